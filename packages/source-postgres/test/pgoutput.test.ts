import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader } from '../src/byte-reader.js';
import {
  visitMessage,
  type Begin,
  type LogicalMessage,
  type PgoutputVisitor,
  type Relation,
} from '../src/pgoutput.js';
import { begin, Bytes, commit, insert, message, OID, relation } from './messages.js';

/** Notes every call, and reads the first cell of a tuple. */
class Notes implements PgoutputVisitor {
  readonly calls: unknown[] = [];

  begin(begin: Begin): void {
    this.calls.push(['begin', begin]);
  }
  commit(endLsn: bigint): void {
    this.calls.push(['commit', endLsn]);
  }
  relation(relation: Relation): void {
    this.calls.push(['relation', relation]);
  }
  insert(relationOid: number, tuple: ByteReader): void {
    const count = tuple.uint16();
    const cells = Array.from({ length: count }, () =>
      tuple.uint8() === 0x74 ? tuple.text(tuple.uint32()) : null,
    );
    this.calls.push(['insert', relationOid, cells]);
  }
  message(message: LogicalMessage): void {
    this.calls.push(['message', message]);
  }
}

function visited(buffer: Buffer): unknown {
  const notes = new Notes();
  visitMessage(new ByteReader(buffer), notes);
  return notes.calls.length === 1 ? notes.calls[0] : notes.calls;
}

const columns = [
  { name: 'id', typeOid: OID.int8 },
  { name: 'schlüssel', typeOid: 4_000_000_001 },
];

describe('pgoutput messages', () => {
  it('Begin', () => {
    expect(visited(begin(0x16_b374_d848n, 742, -5n))).toEqual([
      'begin',
      { commitLsn: 0x16_b374_d848n, commitMicros: -5n, xid: 742 },
    ]);
  });

  it('Begin of a transaction with an id above 2^31', () => {
    expect(visited(begin(0xffff_ffff_0000_0000n, 4_294_967_295))).toEqual([
      'begin',
      { commitLsn: 0xffff_ffff_0000_0000n, commitMicros: 0n, xid: 4_294_967_295 },
    ]);
  });

  it('Commit: the end of the commit record, not its start', () => {
    expect(visited(commit(0x100n, 0x130n))).toEqual(['commit', 0x130n]);
  });

  it('Relation, with oids above 2^31 and names that are not ASCII', () => {
    expect(visited(relation(3_000_000_000, columns, { schema: 'lägern', name: 'out box' }))).toEqual([
      'relation',
      { oid: 3_000_000_000, schema: 'lägern', name: 'out box', columns },
    ]);
  });

  it('Relation of pg_catalog and without columns', () => {
    expect(visited(relation(1, [], { schema: '', name: 'pg_class' }))).toEqual([
      'relation',
      { oid: 1, schema: '', name: 'pg_class', columns: [] },
    ]);
  });

  it('Insert: the reader stands at the tuple', () => {
    expect(visited(insert(3_000_000_000, ['1', null, '']))).toEqual([
      'insert',
      3_000_000_000,
      ['1', null, ''],
    ]);
  });

  it.each([true, false])('Message, transactional: %s', (transactional) => {
    expect(visited(message('shop', '{"a":1}', { transactional }))).toEqual([
      'message',
      { transactional, prefix: 'shop', content: '{"a":1}' },
    ]);
  });

  it('a byte order mark at the front of a text is part of it', () => {
    expect(visited(insert(1, ['\ufeffa']))).toEqual(['insert', 1, ['\ufeffa']]);
    expect(visited(message('p', '\ufeff{}'))).toEqual([
      'message',
      { transactional: true, prefix: 'p', content: '\ufeff{}' },
    ]);
    expect(visited(relation(1, [{ name: '\ufeffid', typeOid: 20 }], { name: '\ufeffoutbox' }))).toEqual([
      'relation',
      { oid: 1, schema: 'public', name: '\ufeffoutbox', columns: [{ name: '\ufeffid', typeOid: 20 }] },
    ]);
  });

  it.each(['Y', 'O', 'U', 'D', 'T', 'S', '\0'])('of type %j are passed over', (type) => {
    expect(visited(new Bytes().char(type).uint32(7).buffer)).toEqual([]);
  });
});

describe('messages that end too early', () => {
  const whole: Record<string, Buffer> = {
    Begin: begin(0x100n),
    // The time at the end is not read: Begin had it.
    Commit: commit(0x100n, 0x130n).subarray(0, -8),
    Relation: relation(7, columns),
    Insert: insert(7, ['1', null, 'text']),
    Message: message('shop', '{"a":1}'),
  };

  it.each(Object.entries(whole))(
    '%s: cut anywhere, it is PG_PROTOCOL and nothing is made of it',
    (_, buffer) => {
      expect(() => visited(buffer)).not.toThrow();
      for (let length = 0; length < buffer.length; length += 1) {
        const notes = new Notes();
        expect(() => {
          visitMessage(new ByteReader(buffer.subarray(0, length)), notes);
        }, String(length)).toThrow(expect.objectContaining({ code: 'PG_PROTOCOL' }));
        expect(notes.calls).toEqual([]);
      }
    },
  );

  it('a length beyond the end, up to 2^32-1, is PG_PROTOCOL', () => {
    for (const length of [5, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]) {
      const cell = new Bytes().char('I').uint32(7).char('N').uint16(1).char('t').uint32(length).char('text');
      expect(() => visited(cell.buffer)).toThrow(expect.objectContaining({ code: 'PG_PROTOCOL' }));
    }
  });
});

describe('the reader', () => {
  it('reads 64-bit numbers with their sign or without', () => {
    const reader = new ByteReader(new Bytes().int64(-2n).uint64(0xffff_ffff_ffff_fffen).buffer);
    expect([reader.int64(), reader.uint64()]).toEqual([-2n, 0xffff_ffff_ffff_fffen]);
  });

  it('gives a text that is the last one again, and any other text as it is', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('paid', 'sent', 'gelöst', 'gelosst', '', '\u00ff\u00ff')),
        (texts) => {
          let last: string | null = null;
          for (const text of texts) {
            const bytes = Buffer.from(text, 'utf8');
            const reader = new ByteReader(bytes);
            last = reader.repeatedText(bytes.length, last);
            expect(last).toBe(text);
            reader.end();
          }
        },
      ),
    );
  });

  it('gives every text as its bytes say, of whatever length', () => {
    const text = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12, unit: 'grapheme' }));
    fc.assert(
      fc.property(text, fc.nat(3), (written, behind) => {
        const bytes = Buffer.from(written, 'utf8');
        const reader = new ByteReader(Buffer.concat([bytes, Buffer.alloc(behind, 'x')]));
        expect(reader.text(bytes.length)).toBe(bytes.toString('utf8'));
      }),
    );
  });

  it('begins where it is told, and goes on with another buffer', () => {
    const reader = new ByteReader(Buffer.from([9, 9, 0, 7]), 2);
    expect(reader.uint16()).toBe(7);
    reader.end();
    reader.reset(Buffer.from([9, 3]), 1);
    expect(reader.uint8()).toBe(3);
    expect(() => reader.uint8()).toThrow(expect.objectContaining({ code: 'PG_PROTOCOL' }));
  });

  it('does not move when a field is cut', () => {
    const reader = new ByteReader(Buffer.from([0, 7]));
    expect(() => reader.uint32()).toThrow(expect.objectContaining({ code: 'PG_PROTOCOL' }));
    expect(reader.uint16()).toBe(7);
  });
});
