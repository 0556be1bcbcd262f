import { describe, expect, test } from 'vitest';
import { isKeySure, outboxesAmong, readAsOutbox, surest } from '../src/guess/guess.js';
import { likeliest, nameScore } from '../src/guess/table-names.js';
import { BESIDE, LAYOUTS, table } from './layouts.js';

type Columns = readonly [
  id: string,
  key: readonly string[] | null,
  type: string | null,
  payload: string | null,
];
type Expected = [layout: keyof typeof LAYOUTS, columns: Columns, headers?: string];

/** Null for a key that has to be asked for. */
const EXPECTED: readonly Expected[] = [
  ['debezium', ['id', ['aggregateid'], 'type', 'payload']],
  ['rails', ['id', ['aggregate_id'], 'event_type', 'payload']],
  ['railsMessages', ['id', ['order_id'], 'event_type', 'data']],
  ['camel', ['messageId', ['tenantId', 'orderId'], 'eventType', 'body']],
  ['massTransit', ['SequenceNumber', null, 'MessageType', 'Body']],
  ['nServiceBus', ['MessageId', null, null, 'Operations']],
  ['modulith', ['id', null, 'event_type', 'serialized_event']],
  ['axon', ['global_index', ['aggregate_identifier'], 'type', 'payload']],
  ['laravel', ['id', ['aggregate_id'], 'event', 'payload']],
  ['django', ['id', ['aggregate_id'], 'event_type', 'payload'], 'headers'],
  ['djangoPattern', ['id', null, 'destination', 'body'], 'headers'],
  ['ecto', ['id', ['stream_id'], 'name', 'data'], 'metadata'],
  ['wolverine', ['id', null, 'message_type', 'body']],
  ['kafka', ['id', ['key'], 'topic', 'value'], 'headers'],
  ['prisma', ['id', ['aggregateId'], 'eventType', 'payload']],
  ['upper', ['ID', ['AGGREGATE_ID'], 'EVENT_TYPE', 'PAYLOAD']],
  ['strandline', ['id', ['key'], 'type', 'payload'], 'headers'],
];

describe('a layout in use', () => {
  test.each(EXPECTED)('%s is found among other tables, with its columns', (layout, columns, headers) => {
    const [first, ...others] = outboxesAmong([...BESIDE, LAYOUTS[layout]]);
    expect(first?.table.name).toBe(LAYOUTS[layout].name);
    expect(others.filter(({ score }) => score >= (first?.score ?? 0))).toEqual([]);
    const { id, key, type, payload, headers: found } = readAsOutbox(LAYOUTS[layout]);
    const sure = key !== null && isKeySure({ key } as never) ? key.columns : null;
    expect([id?.column, sure, type?.column ?? null, payload?.column]).toEqual(columns);
    expect(found?.column).toBe(headers);
  });

  test.each(['debezium', 'rails', 'camel', 'laravel', 'django', 'ecto', 'kafka', 'prisma', 'upper'] as const)(
    '%s is taken unasked',
    (layout) => {
      expect(surest(outboxesAmong([...BESIDE, LAYOUTS[layout]]))?.table.name).toBe(LAYOUTS[layout].name);
    },
  );

  test('each is one that every spelling of its names shares', () => {
    const spell = (write: (name: string) => string) =>
      table(
        write('outbox_events'),
        ['event_id uuid', 'aggregate_type text', 'aggregate_id text', 'event_type text', 'payload json']
          .map((column) => column.replace(/^\S+/, write))
          .join(';'),
      );
    const camel = (name: string): string =>
      name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const spellings = [
      (name: string) => name,
      (name: string) => name.toUpperCase(),
      (name: string) => name.replaceAll('_', ''),
      camel,
      (name: string) => camel(`_${name}`),
      (name: string) => name.replaceAll('_', '-'),
    ];
    for (const write of spellings) {
      const { score, key, type, payload } = readAsOutbox(spell(write));
      expect(score).toBeGreaterThan(90);
      expect([key?.columns, type?.column, payload?.column]).toEqual([
        [write('aggregate_id')],
        write('event_type'),
        write('payload'),
      ]);
    }
  });
});

describe('the key', () => {
  const keyOf = (columns: string) =>
    readAsOutbox(table('outbox', `id bigint; ${columns}; payload jsonb`)).key;

  test('is the aggregate, whatever its type, and the narrower one is told', () => {
    expect(readAsOutbox(LAYOUTS.rails).key).toMatchObject({
      columns: ['aggregate_id'],
      why: 'everything about one aggregate in order, whatever its aggregate_type',
      alternatives: [{ columns: ['aggregate_type', 'aggregate_id'] }],
    });
  });

  test('is within its tenant, and the broader ones are told', () => {
    expect(readAsOutbox(LAYOUTS.camel).key).toMatchObject({
      columns: ['tenantId', 'orderId'],
      alternatives: [{ columns: ['orderId'] }, { columns: ['tenantId'] }],
    });
  });

  test('is no wider than a uuid, and never has a part that may be NULL', () => {
    expect(keyOf('tenant_id text; order_id uuid')?.columns).toEqual(['order_id']);
    expect(keyOf('tenant_id text null; order_id bigint')?.columns).toEqual(['order_id']);
  });

  test('is asked for where two would do, where only a correlation would, and where nothing would', () => {
    const two = keyOf('order_id bigint; customer_id bigint');
    expect(two).toMatchObject({ columns: ['order_id'], alternatives: [{ columns: ['customer_id'] }] });
    const among = [two, keyOf('correlation_id uuid'), keyOf('owner_id bigint; trace_id text')];
    expect(among.map((key) => key !== null && key.weight >= 70)).toEqual([false, false, false]);
  });

  test('is no document, no time and no flag', () => {
    expect(keyOf('key jsonb; aggregate_id timestamp; entity_id boolean')).toBeNull();
  });

  test('names its topic where it is a plain key', () => {
    expect(readAsOutbox(LAYOUTS.kafka).key?.alternatives).toEqual([
      { columns: ['topic', 'key'], why: expect.stringContaining('each topic by itself') as string },
    ]);
  });
});

describe('tables', () => {
  test('two that are alike are told, and none is taken', () => {
    const two = [LAYOUTS.rails, table('outbox_events_eu', 'id bigint; aggregate_id bigint; payload jsonb')];
    const found = outboxesAmong(two);
    expect(found.map(({ table: { name } }) => name)).toEqual(['outbox_events', 'outbox_events_eu']);
    expect(surest(outboxesAmong([LAYOUTS.rails, { ...LAYOUTS.rails, schema: 'eu' }]))).toBeNull();
  });

  test('of others nothing is proposed', () => {
    expect(surest(outboxesAmong(BESIDE))).toBeNull();
    expect(outboxesAmong(BESIDE).map(({ table: { name } }) => name)).toEqual([]);
  });

  test('columns of a work queue are named', () => {
    expect(readAsOutbox(LAYOUTS.rails).unneeded).toEqual(['processed_at']);
    expect(readAsOutbox(LAYOUTS.railsMessages).unneeded).toEqual(['status', 'locked_by']);
  });

  test('what is beside an outbox scores less than the outbox', () => {
    for (const name of ['inbox_messages', 'outbox_archive', 'OutboxState', 'strandline_dead_letters'])
      expect(nameScore(name), name).toBeLessThan(nameScore('outbox'));
  });

  test('of fifty thousand names the likeliest are picked, in a moment', () => {
    const names = Array.from({ length: 50_000 }, (_, i) => ({ name: `tenant_${String(i)}_orders` }));
    names.splice(41_000, 0, { name: 'billing_outbox' });
    const started = performance.now();
    expect(likeliest(names, 100)[0]).toEqual({ name: 'billing_outbox' });
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
