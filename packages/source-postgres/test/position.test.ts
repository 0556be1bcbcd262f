import { SNAPSHOT_START, snapshotPosition } from '@strandline/source-kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatLsn } from '../src/lsn.js';
import { compareLog, logPosition, parsePosition } from '../src/position.js';
import { containing } from './matchers.js';

const place = fc.record({
  lsn: fc.oneof(
    fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }),
    // Close together, and around the places where the text gets a digit more.
    fc.constantFrom(
      0x9n,
      0xan,
      0xfn,
      0x10n,
      0xffn,
      0x100n,
      0xffff_ffffn,
      0x1_0000_0000n,
      0x9_0000_0000n,
      0x10_0000_0000n,
    ),
  ),
  ordinal: fc.nat(2_000_000),
});

function inLog(text: string): { lsn: bigint; ordinal: number } {
  const parsed = parsePosition(text);
  if (parsed.kind !== 'log') throw new Error(`${text} is not in the log`);
  return parsed;
}

describe('a position in the log', () => {
  it('is the commit LSN and the ordinal', () => {
    expect(logPosition(0x16_b374_d848n, 3)).toBe('16/B374D848:3');
    expect(parsePosition('16/B374D848:3')).toEqual({ kind: 'log', lsn: 0x16_b374_d848n, ordinal: 3 });
  });

  it('comes back from its text unchanged', () => {
    fc.assert(
      fc.property(place, ({ lsn, ordinal }) => {
        expect(parsePosition(logPosition(lsn, ordinal))).toEqual({ kind: 'log', lsn, ordinal });
      }),
    );
  });

  it.each([
    ['0/9:1', '0/10:1'],
    ['0/FFFFFFFF:1', '1/0:1'],
    ['9/0:1', '10/0:1'],
    ['2/A0:1', '2/100:1'],
    ['0/10:9', '0/10:10'],
    ['0/10:0', '0/10:1'],
    ['0/10:1000000', '0/11:1'],
  ])('%s lies before %s, though the text may say otherwise', (earlier, later) => {
    expect(compareLog(inLog(earlier), inLog(later))).toBeLessThan(0);
    expect(compareLog(inLog(later), inLog(earlier))).toBeGreaterThan(0);
    expect(compareLog(inLog(earlier), inLog(earlier))).toBe(0);
  });

  it('is one place however its halves are padded', () => {
    expect(compareLog(inLog('0/10:1'), inLog('00000000/00000010:1'))).toBe(0);
    expect(compareLog(inLog('0/00000009:1'), inLog('0/10:1'))).toBeLessThan(0);
  });

  it('is ordered as the pair of numbers that it is', () => {
    fc.assert(
      fc.property(place, place, (a, b) => {
        const byNumbers = a.lsn === b.lsn ? Math.sign(a.ordinal - b.ordinal) : a.lsn < b.lsn ? -1 : 1;
        const printed = ({ lsn, ordinal }: typeof a): string => `${formatLsn(lsn)}:${String(ordinal)}`;
        expect(Math.sign(compareLog(inLog(printed(a)), inLog(printed(b))))).toBe(byNumbers);
      }),
    );
  });
});

describe('a position in the start snapshot', () => {
  it('is the JSON of its order values, as text', () => {
    expect(snapshotPosition(['7', '42'])).toBe('snapshot:["7","42"]');
    expect(parsePosition('snapshot:["7","42"]')).toEqual({ kind: 'snapshot', row: ['7', '42'] });
    expect(parsePosition(SNAPSHOT_START)).toEqual({ kind: 'snapshot', row: null });
  });

  it('keeps values that hold anything', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (row) => {
        expect(parsePosition(snapshotPosition(row))).toEqual({ kind: 'snapshot', row });
      }),
    );
  });

  it('is not taken for one in the log when a value looks like one', () => {
    expect(parsePosition(snapshotPosition(['0/10:1']))).toEqual({ kind: 'snapshot', row: ['0/10:1'] });
  });
});

describe('text that is no position', () => {
  it.each([
    '',
    '0/10',
    '0/10:',
    ':1',
    '0/10:-1',
    '0/10:1.5',
    '0/10:1e3',
    '0/10: 1',
    '0/10:99999999999999999999',
    '10:1',
    '0/G:1',
    'mysql-bin.000001:4:0',
    'snapshot:',
    'snapshot:[7]',
    'snapshot:{"a":"b"}',
    'snapshot:["7"',
    'snapshot:null',
  ])('%j is refused with PG_POSITION', (text) => {
    expect(() => parsePosition(text)).toThrow(
      expect.objectContaining({
        code: 'PG_POSITION',
        message: containing(JSON.stringify(text)),
      }),
    );
  });
});
