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
 * - `strandline`: a table `strandline_outbox` of our own. On Postgres `(id bigint generated always as identity
 *   primary key, key text not null, type text not null, payload jsonb, headers jsonb)`; on MySQL and MariaDB
 *   `(id bigint auto_increment primary key, `key` varchar(255) not null, type varchar(255) not null, payload json,
 *   headers json)`.
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

/** The outbox options with what the preset fills in; null when there is no such preset. */
export function withPreset(outbox: Readonly<Record<string, unknown>>): Record<string, unknown> | null {
  const { preset, ...given } = outbox;
  if (preset === undefined) return given;
  if (typeof preset !== 'string' || !Object.hasOwn(PRESETS, preset)) return null;
  return { ...PRESETS[preset as OutboxPreset], ...given };
}
