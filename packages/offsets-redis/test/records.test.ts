import type { Bookmark, InstanceReport, Offset } from '@strandline/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBookmark, encodeBookmark } from '../src/bookmark-record.js';
import { decodeReport, encodeReport } from '../src/instance-record.js';
import {
  decode,
  decodeReplaced,
  encodeCompleted,
  encodeIdentity,
  encodeReplaced,
  type Held,
} from '../src/record.js';

/** Any text that Redis can hold: it has a UTF-8. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\0', '"', '[]', 'null', '🌊', '007', '__proto__'),
);
/** The sources name what is in it; that none of them is called `__proto__` is theirs to see to. */
const identity = fc.dictionary(
  text.filter((name) => name !== '__proto__'),
  text,
  { maxKeys: 5, noNullPrototype: true },
);
const range = fc.oneof(
  text.map((at) => ({ first: at, last: at })),
  fc.record({ first: text, last: text }),
);
const counter = fc.oneof(fc.maxSafeNat(), fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER));
const offset: fc.Arbitrary<Offset> = fc.record({
  identity,
  watermark: text,
  completed: fc.array(range, { maxLength: 40 }),
  epoch: counter,
  revision: counter,
  savedAt: text,
});

/** What the hash holds of an offset. */
function held({ identity: of, watermark, completed, epoch, revision, savedAt }: Offset): Held {
  return {
    ...{ format: '1', identity: encodeIdentity(of), watermark, completed: encodeCompleted(completed) },
    ...{ epoch: String(epoch), revision: String(revision), savedAt },
  };
}

const CORRUPT = expect.objectContaining({ code: 'OFFSETS_CORRUPT' }) as unknown;

/** Reads, or is refused as corrupt; whatever else is thrown ends the property. */
function readOrCorrupt(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    expect(error).toEqual(CORRUPT);
  }
}

describe('what is kept in Redis comes back as it was', () => {
  it('an offset', () => {
    fc.assert(
      fc.property(offset, (saved) => {
        expect(decode(held(saved), 'key', 'redis')).toEqual(saved);
      }),
    );
  });

  it('what was replaced', () => {
    fc.assert(
      fc.property(fc.option(offset), text, (saved, replacedAt) => {
        const texts = { format: '1', replaced: encodeReplaced(saved, replacedAt) };
        const expected = saved && {
          identity: saved.identity,
          watermark: saved.watermark,
          completed: saved.completed,
        };
        expect(decodeReplaced(texts, 'key', 'redis')).toEqual({ offset: expected, replacedAt });
      }),
    );
  });

  it('a bookmark', () => {
    const bookmark: fc.Arbitrary<Bookmark> = fc.record({
      ...{ name: text, position: text, identity },
      ...{ committedAt: fc.option(text), createdAt: text },
    });
    fc.assert(
      fc.property(bookmark, (made) => {
        expect(decodeBookmark(made.name, encodeBookmark(made), 'key', 'redis')).toEqual(made);
      }),
    );
  });

  it('what a process says of itself', () => {
    const report: fc.Arbitrary<InstanceReport> = fc.record({
      ...{ id: text, host: text, pid: fc.maxSafeNat(), state: text, epoch: fc.option(counter) },
      ...{ startedAt: text, reportedAt: text, details: fc.jsonValue({ noNullPrototype: true } as object) },
    });
    fc.assert(
      fc.property(report, (said) => {
        const plain = JSON.parse(JSON.stringify(said)) as InstanceReport;
        expect(decodeReport(encodeReport(said), 'key', 'redis')).toEqual(plain);
      }),
    );
  });
});

describe('what is damaged', () => {
  const fieldOf = fc.constantFrom(
    'format',
    'identity',
    'watermark',
    'completed',
    'epoch',
    'revision',
    'savedAt',
  );
  const value = fc.oneof(
    fc.constantFrom(null, '', '-1', '1e3', '0x10', '9'.repeat(17), '[1]', '[["a"]]', '{"a":1}', '[', 'null'),
    fc.string(),
    fc.json(),
  );

  it('is read or OFFSETS_CORRUPT, and never something else', () => {
    fc.assert(
      fc.property(offset, fieldOf, value, (saved, name, bad) => {
        readOrCorrupt(() => decode({ ...held(saved), [name]: bad }, 'key', 'redis'));
        readOrCorrupt(() => decodeReplaced({ format: '1', replaced: bad }, 'key', 'redis'));
        readOrCorrupt(() => decodeBookmark('name', bad ?? '', 'key', 'redis'));
        readOrCorrupt(() => decodeReport(bad ?? '', 'key', 'redis'));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(['identity', 'completed', 'epoch', 'revision', 'format'] as const)(
    'in %s is never read as another offset',
    (name) => {
      const others = fc
        .oneof(fc.string({ minLength: 1 }), fc.json())
        .filter((bad) => !/^\s*(\d+|\[.*\]|\{.*\})\s*$/s.test(bad));
      fc.assert(
        fc.property(offset, others, (saved, bad) => {
          expect(() => decode({ ...held(saved), [name]: bad }, 'key', 'redis')).toThrow(CORRUPT);
        }),
      );
    },
  );
});
