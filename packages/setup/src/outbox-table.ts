import { outboxDdl } from '@strandline/outbox';
import type { Mapping } from './choice.js';
import type { Flavour, TableName } from './facts.js';
import { statement, type Step } from './steps.js';

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

/** The steps that make the table of the preset `strandline`, as the package for producers has it. */
export function outboxTableSteps(flavour: Flavour, { schema, name }: TableName): Step[] {
  const [table = '', ...rest] = outboxDdl({ dialect: flavour, table: `${schema}.${name}` });
  return [
    statement(
      `${table};`,
      'The outbox. The application inserts into it, in the transaction of what the event tells of; it needs insert on it.',
    ),
    ...rest.map((sql) => statement(`${sql};`, 'For deleting rows by their age.')),
  ];
}

/** Where it is made. */
export function outboxTableIn(schema: string): TableName {
  return { schema, name: OUTBOX_TABLE };
}
