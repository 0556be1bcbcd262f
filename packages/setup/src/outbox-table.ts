import type { Mapping } from './choice.js';
import type { Flavour, TableName } from './facts.js';

/** What the table of the preset `strandline` is called. */
export const OUTBOX_TABLE = 'strandline_outbox';

/** Its columns, as the preset maps them. */
export const OUTBOX_MAPPING: Mapping = Object.freeze({
  id: 'id',
  key: ['key'],
  type: 'type',
  payload: 'payload',
  headers: 'headers',
});

/**
 * The statement that makes the table of the preset `strandline`. The one place in this package that knows it.
 *
 * @param table qualified and quoted
 */
export function outboxTableSql(flavour: Flavour, table: string): string {
  return flavour === 'postgres'
    ? `create table ${table} (
  id bigint generated always as identity primary key,
  key text not null,
  type text not null,
  payload jsonb,
  headers jsonb
);`
    : `create table ${table} (
  id bigint auto_increment primary key,
  \`key\` varchar(255) not null,
  type varchar(255) not null,
  payload json,
  headers json
) engine = InnoDB;`;
}

/** Where it is made. */
export function outboxTableIn(schema: string): TableName {
  return { schema, name: OUTBOX_TABLE };
}
