import { StrandlineError } from '@strandline/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decoder } from '../src/decoder.js';
import type { PostgresEvent } from '../src/event.js';
import { begin, commit, insert, message, OID, relation, tuple } from './messages.js';
import { outboxTable } from './outbox.js';

const TABLE_OID = 16_400;
const NAMES = ['id', 'key', 'payload'];
const COLUMNS = NAMES.map((name) => ({ name, typeOid: OID.text }));

/** A byte that is changed can make a message one of another kind, which is refused for its own reasons. */
const REFUSED = /^PG_(PROTOCOL|ROW|NULL_KEY|MESSAGE|COLUMN_MISSING)$/;

/** ASCII, so that a byte that was changed is a character that was changed. */
const text = fc.string({ unit: 'grapheme-ascii', maxLength: 12 });
const cells = fc.tuple(text, text, fc.option(text));
const json = fc
  .record({ key: text, payload: fc.jsonValue({ maxDepth: 1 }) })
  .map((value) => JSON.stringify(value));

/** Feeds a message in the middle of a transaction, with the outbox described before it. */
function decoded(buffer: Buffer): PostgresEvent[] | StrandlineError {
  const events: PostgresEvent[] = [];
  const decoder = new Decoder(
    {
      table: { outbox: outboxTable({ payload: 'payload' }), oid: TABLE_OID, name: 'public.outbox' },
      messages: {
        prefix: 'shop',
        id: 'id',
        key: 'key',
        type: 'type',
        payload: 'payload',
        headers: 'headers',
      },
      nullKey: 'reject',
    },
    { event: (event) => events.push(event), passed: () => undefined },
    { lsn: 0n, ordinal: 0 },
  );
  try {
    for (const each of [relation(TABLE_OID, COLUMNS), begin(0xa0n), buffer]) decoder.decode(each);
    return events;
  } catch (error) {
    // Anything else is no answer, and ends the property with its stack.
    if (error instanceof StrandlineError) return error;
    throw error;
  }
}

/** One byte of a message is another one, is missing, or is there twice; or its end is missing. */
function damaged(buffer: Buffer, at: number, byte: number, how: number): Buffer {
  const from = at % buffer.length;
  const [before, behind] = [buffer.subarray(0, from), buffer.subarray(from + 1)];
  const mark = Buffer.of(byte);
  return Buffer.concat(
    [[before, mark, behind], [before, behind], [before, mark, buffer.subarray(from)], [before]][how % 4] ??
      [],
  );
}

const damage = fc.tuple(
  fc.nat(400),
  fc.oneof(fc.constantFrom(0, 1, 3, 4, 0x6e, 0x74), fc.nat(127)),
  fc.nat(3),
);

/** The message of a row, as the server would have sent it. */
function sent({ id, key, payloadText }: PostgresEvent): Buffer {
  return insert(TABLE_OID, [id, key, payloadText]);
}

describe('a damaged row', () => {
  it('is refused, passed over as that of another table, or is the row that its bytes say to the last one', () => {
    fc.assert(
      fc.property(cells, damage, (row, [at, byte, how]) => {
        const bytes = damaged(insert(TABLE_OID, row), at, byte, how);
        const result = decoded(bytes);
        if (result instanceof StrandlineError) {
          expect(result.code).toMatch(REFUSED);
          return;
        }
        for (const event of result) {
          // The byte that says that a new tuple follows is always the same one.
          const [again, given] = [sent(event), Buffer.from(bytes)];
          given[5] = again[5] ?? 0;
          expect(given.toString('hex')).toBe(again.toString('hex'));
        }
      }),
      { numRuns: 5_000 },
    );
  });

  it('is not read when a length in it lies, be it by one byte', () => {
    const row = tuple(['1', 'k', 'text']);
    const header = insert(TABLE_OID, []).subarray(0, -2);
    for (const length of [3, 0, 5, 0xffff_ffff]) {
      const lying = Buffer.from(row);
      lying.writeUInt32BE(length, row.length - 8);
      expect(decoded(Buffer.concat([header, lying])), String(length)).toMatchObject({ code: 'PG_PROTOCOL' });
    }
    expect(decoded(Buffer.concat([header, row]))).toHaveLength(1);
  });
});

describe('a damaged message of the application', () => {
  it('is refused, is of another prefix, or is the content that its bytes say to the last one', () => {
    fc.assert(
      fc.property(json, damage, (content, [at, byte, how]) => {
        const bytes = damaged(message('shop', content), at, byte, how);
        const result = decoded(bytes);
        if (result instanceof StrandlineError) {
          expect(result.code).toMatch(REFUSED);
          return;
        }
        for (const { key } of result) {
          const behind = 1 + 1 + 8 + 'shop\0'.length;
          expect(bytes.readUInt32BE(behind)).toBe(bytes.length - behind - 4);
          const value = JSON.parse(bytes.toString('latin1', behind + 4)) as { key: unknown };
          expect(key).toBe(String(value.key));
        }
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('other messages', () => {
  const whole = fc.oneof(
    fc.constant(relation(TABLE_OID, COLUMNS)),
    fc.bigInt({ min: 0n, max: 0xffff_ffffn }).map((lsn) => begin(lsn)),
    fc.bigInt({ min: 0n, max: 0xffff_ffffn }).map((lsn) => commit(lsn, lsn + 48n)),
  );

  it('that are damaged are read or refused, and make no event', () => {
    fc.assert(
      fc.property(whole, damage, (bytes, [at, byte, how]) => {
        const result = decoded(damaged(bytes, at, byte, how));
        if (result instanceof StrandlineError) expect(result.code).toMatch(REFUSED);
        else expect(result).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  });

  it('of any bytes are read or refused, and make no event', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const result = decoded(Buffer.from(bytes));
        if (result instanceof StrandlineError) expect(result.code).toMatch(REFUSED);
        else expect(result).toEqual([]);
      }),
      { numRuns: 5_000 },
    );
  });
});
