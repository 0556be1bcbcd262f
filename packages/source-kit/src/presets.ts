/** Names of the known outbox layouts. */
export type OutboxPreset = 'debezium' | 'strandline';

interface PresetColumns {
  readonly table: string;
  readonly id: string;
  readonly key: string;
  readonly type: string;
  readonly payload: string;
  readonly headers?: string;
  readonly snapshotOrder?: readonly string[];
}

/**
 * - `debezium`: the default columns of Debezium's outbox event router
 *   (https://debezium.io/documentation/reference/stable/transformations/outbox-event-router.html).
 *   The key is the aggregate id alone, as there.
 * - `strandline`: the table `strandline_outbox` that `outboxDdl` of `@strandline/outbox` makes, plain or partitioned by
 *   day: `id` a UUID, `key` and `type` text, `payload` and `headers` JSON, and `created_at`, which only the start
 *   snapshot looks at, for the order of the rows that are there.
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
    // Ids are in the order of insertion within one process only, and not at all where the server makes them.
    snapshotOrder: ['created_at'],
  },
};

/** The outbox options with what the preset fills in; null when there is no such preset. */
export function withPreset(outbox: Readonly<Record<string, unknown>>): Record<string, unknown> | null {
  const { preset, ...given } = outbox;
  if (preset === undefined) return given;
  if (typeof preset !== 'string' || !Object.hasOwn(PRESETS, preset)) return null;
  return { ...PRESETS[preset as OutboxPreset], ...given };
}
