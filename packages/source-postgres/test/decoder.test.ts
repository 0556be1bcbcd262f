import { describe, expect, it } from 'vitest';
import { Decoder, type DecoderOptions, type ResumePoint } from '../src/decoder.js';
import type { PostgresEvent, TransactionContext } from '../src/event.js';
import { formatLsn } from '../src/lsn.js';
import type { RelationColumn } from '../src/pgoutput.js';
import { begin, Bytes, commit, insert, message, OID, relation } from './messages.js';
import { outboxTable } from './outbox.js';
import { containing } from './matchers.js';

const TABLE_OID = 3_000_000_000;
const OTHER_OID = 16_400;

const columns: readonly RelationColumn[] = [
  { name: 'id', typeOid: OID.int8 },
  { name: 'key', typeOid: OID.text },
  { name: 'payload', typeOid: OID.text },
];

const START: ResumePoint = { lsn: 0n, ordinal: 0 };

/** A decoder whose output is a list: positions of events, and `passed LSN`. */
function decoding(options: Partial<DecoderOptions> = {}, resume = START) {
  const output: string[] = [];
  const events: PostgresEvent[] = [];
  const contexts: (TransactionContext | null)[] = [];
  const decoder = new Decoder(
    {
      table: { outbox: outboxTable({ payload: 'payload' }), oid: TABLE_OID, name: 'public.outbox' },
      messages: null,
      nullKey: 'reject',
      ...options,
    },
    {
      event: (event, context) => {
        output.push(event.position);
        events.push(event);
        contexts.push(context);
      },
      passed: (lsn, context) => {
        output.push(`passed ${formatLsn(lsn)}`);
        contexts.push(context);
      },
    },
    resume,
  );
  const feed = (...buffers: Buffer[]): void => {
    for (const buffer of buffers) decoder.decode(buffer);
  };
  return { decoder, feed, output, events, contexts };
}

const row = (id: string, key: string | null = 'k'): Buffer => insert(TABLE_OID, [id, key, `p${id}`]);
const outbox = relation(TABLE_OID, columns);
const other = relation(OTHER_OID, [{ name: 'x', typeOid: OID.text }], { name: 'orders' });

describe('the position of an event', () => {
  it('is the start of its commit record and its place among the watched rows', () => {
    const { feed, output, events } = decoding();
    feed(
      begin(0xa0n, 4_000_000_000),
      outbox,
      row('9'),
      other,
      insert(OTHER_OID, ['x']),
      row('3'),
      commit(0xa0n, 0xd0n),
    );
    expect(output).toEqual(['0/A0:1', '0/A0:2', 'passed 0/D0']);
    expect(events.map(({ id }) => id)).toEqual(['9', '3']);
    expect(events.map(({ transaction }) => transaction)).toEqual([
      { id: '4000000000', ordinal: 1, commitTime: '2000-01-01T00:00:00.000000Z' },
      { id: '4000000000', ordinal: 2, commitTime: '2000-01-01T00:00:00.000000Z' },
    ]);
  });

  it('tells apart transactions whose commit records touch', () => {
    const { feed, output } = decoding();
    feed(begin(0xa0n), outbox, row('1'), commit(0xa0n, 0xd0n));
    feed(begin(0xd0n), row('2'), commit(0xd0n, 0x100n));
    expect(output).toEqual(['0/A0:1', 'passed 0/D0', '0/D0:1', 'passed 0/100']);
  });

  it('the rows of a transaction share one context, and its end has it too', () => {
    const { feed, contexts } = decoding();
    feed(begin(0xa0n, 7), outbox, row('1'), row('2'), commit(0xa0n, 0xd0n));
    expect(contexts[0]).toMatchObject({ xid: 7 });
    expect(contexts[1]).toBe(contexts[0]);
    expect(contexts[2]).toBe(contexts[0]);
  });
});

describe('what is read again after a reconnect', () => {
  it.each([
    [{ lsn: 0xa0n, ordinal: 0 }, ['0/A0:1', '0/A0:2', '0/A0:3', 'passed 0/D0']],
    [{ lsn: 0xa0n, ordinal: 2 }, ['0/A0:3', 'passed 0/D0']],
    [{ lsn: 0xa0n, ordinal: 3 }, ['passed 0/D0']],
    [{ lsn: 0xd0n, ordinal: 0 }, []],
    [{ lsn: 0xd0n, ordinal: 1 }, []],
  ])('from %o on only what comes after it is handed over', (resume, expected) => {
    const { feed, output } = decoding({}, resume);
    feed(begin(0xa0n), outbox, row('1'), row('2'), row('3'), commit(0xa0n, 0xd0n));
    expect(output).toEqual(expected);
  });

  it('the resume point follows each event and each end', () => {
    const { decoder, feed } = decoding();
    feed(begin(0xa0n), outbox, row('1'), row('2'));
    expect(decoder.resumePoint).toEqual({ lsn: 0xa0n, ordinal: 2 });
    feed(commit(0xa0n, 0xd0n));
    expect(decoder.resumePoint).toEqual({ lsn: 0xd0n, ordinal: 0 });
  });
});

describe('a keepalive', () => {
  it('between transactions passes what it says', () => {
    const { decoder, output, contexts } = decoding();
    decoder.keepalive(0x500n);
    decoder.keepalive(0x500n);
    decoder.keepalive(0x400n);
    expect(output).toEqual(['passed 0/500']);
    expect(contexts).toEqual([null]);
  });

  it('inside a transaction passes nothing: more of its rows may come', () => {
    const { decoder, feed, output } = decoding();
    feed(begin(0xa0n), outbox, row('1'));
    decoder.keepalive(0x500n);
    feed(row('2'), commit(0xa0n, 0xd0n));
    expect(output).toEqual(['0/A0:1', '0/A0:2', 'passed 0/D0']);
  });

  it('does not go back behind an event that was handed over before the connection broke', () => {
    const { decoder, output } = decoding({}, { lsn: 0xa0n, ordinal: 2 });
    decoder.keepalive(0xa0n);
    expect(output).toEqual([]);
  });
});

describe('the layout of the table', () => {
  it('is taken from each Relation message: columns added, dropped and moved are found by name', () => {
    const { feed, events } = decoding();
    feed(begin(0xa0n), outbox, row('1'));
    feed(
      relation(TABLE_OID, [
        { name: 'payload', typeOid: OID.json },
        { name: 'new', typeOid: OID.text },
        { name: 'key', typeOid: OID.text },
        { name: 'id', typeOid: OID.int8 },
      ]),
      insert(TABLE_OID, ['{"n":2}', 'new', 'other', '2']),
      commit(0xa0n, 0xd0n),
    );
    expect(events.map(({ id, key, payload }) => ({ id, key, payload }))).toEqual([
      { id: '1', key: 'k', payload: 'p1' },
      { id: '2', key: 'other', payload: { n: 2 } },
    ]);
  });

  it('with a mapped column gone is PG_COLUMN_MISSING', () => {
    const { feed } = decoding();
    feed(begin(0xa0n), outbox, row('1'));
    expect(() => {
      feed(relation(TABLE_OID, columns.slice(0, 2)));
    }).toThrow(expect.objectContaining({ code: 'PG_COLUMN_MISSING', message: containing('"payload"') }));
  });

  it('is known by its oid, whatever it is called: rows from before and after a rename are its rows', () => {
    const { feed, events } = decoding();
    feed(begin(0xa0n), relation(TABLE_OID, columns, { name: 'outbox_once' }), row('1'), commit(0xa0n, 0xd0n));
    feed(begin(0xd0n), outbox, row('2'), relation(TABLE_OID, columns, { name: 'outbox_later' }), row('3'));
    expect(events.map(({ id, table }) => `${id} ${table}`)).toEqual([
      '1 public.outbox',
      '2 public.outbox',
      '3 public.outbox',
    ]);
  });

  it('of a table of the same name in another schema is none of ours', () => {
    const { feed, output } = decoding();
    feed(
      begin(0xa0n),
      relation(OTHER_OID, columns, { schema: 'archive' }),
      insert(OTHER_OID, ['1', 'k', 'p']),
    );
    feed(
      relation(4_000_000_000, columns, { schema: '', name: 'outbox' }),
      insert(4_000_000_000, ['2', 'k', 'p']),
    );
    expect(output).toEqual([]);
  });

  it('made anew under the same name is followed to its new oid, and the old one stays', () => {
    const { feed, events } = decoding();
    feed(begin(0xa0n), outbox, row('1'), commit(0xa0n, 0xd0n));
    feed(begin(0xe0n), relation(16_999, columns), insert(16_999, ['2', 'k', 'p2']), row('3'));
    expect(events.map(({ id }) => id)).toEqual(['1', '2', '3']);
  });
});

describe('a tableless outbox', () => {
  const messages = {
    prefix: 'shop',
    id: 'id',
    key: 'key',
    type: 'type',
    payload: 'payload',
    headers: 'headers',
  };

  it('takes messages with its prefix, in one count with the rows', () => {
    const { feed, output, events } = decoding({ messages });
    feed(begin(0xa0n), message('shop', '{"key":"a"}'), message('shops', 'x'), outbox, row('1'));
    feed(message('shop', '{"key":"b"}'), commit(0xa0n, 0xd0n));
    expect(output).toEqual(['0/A0:1', '0/A0:2', '0/A0:3', 'passed 0/D0']);
    expect(events.map(({ key }) => key)).toEqual(['a', 'k', 'b']);
  });

  it('hands a message over once', () => {
    const { feed, output } = decoding({ messages }, { lsn: 0xa0n, ordinal: 1 });
    feed(begin(0xa0n), message('shop', '{"key":"a"}'), message('shop', '{"key":"b"}'));
    expect(output).toEqual(['0/A0:2']);
  });

  it('refuses a message that belongs to no transaction', () => {
    const { feed } = decoding({ messages });
    expect(() => {
      feed(message('shop', '{"key":"a"}', { transactional: false }));
    }).toThrow(expect.objectContaining({ code: 'PG_MESSAGE', message: containing('"shop"') }));
  });

  it('leaves alone what is not for it, transactional or not', () => {
    const { feed, output } = decoding({ messages });
    feed(message('other', 'x', { transactional: false }));
    const { feed: feedTable, output: outputTable } = decoding();
    feedTable(message('shop', 'x', { transactional: false }));
    expect([...output, ...outputTable]).toEqual([]);
  });
});

describe('the library’s buffer', () => {
  it('may be written over after each message: what was delivered does not change', () => {
    const shared = Buffer.alloc(4_096);
    const { decoder, events } = decoding({
      table: {
        outbox: outboxTable({ payload: 'payload', columns: ['id'] }),
        oid: TABLE_OID,
        name: 'public.outbox',
      },
      messages: {
        prefix: 'shop',
        id: 'id',
        key: 'key',
        type: 'type',
        payload: 'payload',
        headers: 'headers',
      },
    });
    for (const buffer of [
      begin(0xa0n, 71, 5n),
      outbox,
      row('1', 'ключ'),
      row('2', '\ufeffk'),
      message('shop', '{"id":"m","key":"z","payload":{"n":1}}'),
      commit(0xa0n, 0xd0n),
    ]) {
      shared.fill(0xee);
      buffer.copy(shared);
      decoder.decode(shared.subarray(0, buffer.length));
      shared.fill(0xff);
    }
    expect(events.map((event) => event.toJSON())).toMatchObject([
      { id: '1', key: 'ключ', payload: 'p1', columns: { id: '1' }, transaction: { id: '71' } },
      { id: '2', key: '\ufeffk', payload: 'p2', columns: { id: '2' }, transaction: { id: '71' } },
      { id: 'm', key: 'z', payload: { n: 1 }, table: 'shop' },
    ]);
  });
});

describe('a broken stream', () => {
  it.each([
    ['a row', outbox, row('1')],
    ['a message', outbox, message('shop', '{"key":"a"}')],
  ])('%s outside of a transaction is PG_PROTOCOL', (_, ...buffers) => {
    const { feed } = decoding({
      messages: {
        prefix: 'shop',
        id: 'id',
        key: 'key',
        type: 'type',
        payload: 'payload',
        headers: 'headers',
      },
    });
    expect(() => {
      feed(...buffers);
    }).toThrow(expect.objectContaining({ code: 'PG_PROTOCOL' }));
  });

  it('a row cut anywhere is PG_PROTOCOL, and no event is made of it', () => {
    const whole = row('1');
    for (let length = 0; length < whole.length; length += 1) {
      const { feed, output } = decoding();
      feed(begin(0xa0n), outbox);
      expect(() => {
        feed(whole.subarray(0, length));
      }).toThrow(expect.objectContaining({ code: 'PG_PROTOCOL' }));
      expect(output).toEqual([]);
    }
  });

  it.each([
    ['fewer columns than its relation', insert(TABLE_OID, ['1', 'k'])],
    ['more columns than its relation', insert(TABLE_OID, ['1', 'k', 'p', 'x'])],
    [
      'a value that is not text',
      new Bytes().char('I').uint32(TABLE_OID).char('N').uint16(3).char('t').counted('1').char('u').char('n')
        .buffer,
    ],
    ['NULL in its id', insert(TABLE_OID, [null, 'k', 'p'])],
  ])('a row with %s is PG_ROW, with its position', (_, buffer) => {
    const { feed } = decoding();
    feed(begin(0xa0n), outbox, row('1'));
    expect(() => {
      feed(buffer);
    }).toThrow(expect.objectContaining({ code: 'PG_ROW', position: '0/A0:2' }));
  });
});
