/** Names of the known outbox layouts. */
export type OutboxPreset = 'debezium' | 'strandline';

interface PresetColumns {
  readonly table: string;
  readonly id: string;
  readonly key: string;
  readonly type: string;
  readonly payload: string;
  readonly headers?: string;
}

/**
 * - `debezium`: the default columns of Debezium's outbox event router
 *   (https://debezium.io/documentation/reference/stable/transformations/outbox-event-router.html).
 *   The key is the aggregate id alone, as there.
 * - `strandline`: `create table strandline_outbox (id bigint auto_increment primary key,
 *   `key` varchar(255) not null, type varchar(255) not null, payload json, headers json)`.
 */
export const PRESETS: Readonly<Record<OutboxPreset, PresetColumns>> = {
  debezium: { table: 'outboxevent', id: 'id', key: 'aggregateid', type: 'type', payload: 'payload' },
  strandline: {
    table: 'strandline_outbox',
    id: 'id',
    key: 'key',
    type: 'type',
    payload: 'payload',
    headers: 'headers',
  },
};
