import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseSnapshotPosition, SNAPSHOT_START, snapshotPosition } from '../src/index.js';

const row = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '"', 'start', '\ud83e')));

it('a position in the start snapshot reads back as it was written, and two rows are two', () => {
  fc.assert(
    fc.property(row, row, (a, b) => {
      expect(parseSnapshotPosition(snapshotPosition(a))).toEqual({ kind: 'snapshot', row: a });
      expect(snapshotPosition(a) === snapshotPosition(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      expect(snapshotPosition(a)).not.toBe(SNAPSHOT_START);
    }),
  );
});

it('any other text is none: it is read as the row that it says, or not at all', () => {
  const text = fc.oneof(
    fc.string(),
    fc.oneof(fc.json(), fc.string()).map((rest) => `snapshot:${rest}`),
    fc.tuple(row, fc.nat()).map(([values, at]) => snapshotPosition(values).slice(0, at)),
  );
  fc.assert(
    fc.property(text, (given) => {
      const position = parseSnapshotPosition(given);
      const values = position?.row ?? null;
      if (values === null) expect(position === null || given === SNAPSHOT_START).toBe(true);
      else expect(JSON.parse(given.slice('snapshot:'.length))).toEqual(values);
    }),
  );
});
