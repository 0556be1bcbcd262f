import { answerOf, fail, pass, warn, type Check, type Verdict } from '@strandline/core';
import type { OutboxTable } from '@strandline/source-kit';
import { mappedColumns } from '../publication.js';
import { quoteName } from '../quote.js';
import type { PostgresFacts, TableState } from './facts.js';

interface Outbox {
  readonly facts: PostgresFacts;
  readonly table: TableState;
  readonly outbox: OutboxTable;
}

/** A check of a table that is there; the one of the table itself says when it is not. */
function ofTable(judge: (outbox: Outbox) => Verdict | null): (facts: PostgresFacts) => Verdict | null {
  return (facts) => {
    const { outbox } = facts.config;
    const table = facts.table === null ? 'missing' : answerOf(facts.table);
    return table === 'missing' || outbox === null || table.kind === 'other'
      ? null
      : judge({ facts, table, outbox });
  };
}

export const TABLE_CHECKS: readonly Check<PostgresFacts>[] = [
  {
    check: 'postgres-table',
    why: 'Its inserts are the events: the log must have all of them, under its name.',
    judge: (facts: PostgresFacts): Verdict | null => tableVerdict(facts),
  },
  {
    check: 'postgres-columns',
    why: 'The pipeline stops with PG_COLUMN_MISSING where one is not in the log.',
    judge: ofTable(columnsVerdict),
  },
  {
    check: 'postgres-headers',
    why: 'Headers are read as a JSON object.',
    judge: ofTable(headersVerdict),
  },
  {
    check: 'postgres-id',
    why: 'Handlers deduplicate on event.id: two events of one id look like one that came twice.',
    judge: ofTable(idVerdict),
  },
  {
    check: 'postgres-key',
    why: 'A row without a key stops the pipeline with PG_NULL_KEY.',
    judge: ofTable(keyVerdict),
  },
  {
    check: 'postgres-select',
    why: "start: 'snapshot' reads the rows that are there.",
    judge: ofTable(selectVerdict),
  },
  {
    check: 'postgres-replica-identity',
    why: 'A table without replica identity that some publication publishes updates or deletes of refuses them: the clean-up of the outbox fails.',
    judge: ofTable(identityVerdict),
  },
];

function tableVerdict({ table: asked, config }: PostgresFacts): Verdict | null {
  if (asked === null || config.outbox === null) return null;
  const table = answerOf(asked);
  const given = JSON.stringify(config.outbox.table);
  const remedy = 'Create it, or correct outbox.table: names are exact, and schema.table names the schema.';
  if (table === 'missing')
    return fail(`there is no table ${given} in this database, or it is not on the search path`, remedy);
  if (table.kind === 'other') return fail(`${given} is not a table`, remedy);
  if (table.unlogged.length > 0) {
    return fail(
      `unlogged, temporary or foreign: ${table.unlogged.join(', ')}`,
      table.unlogged.map((name) => `alter table ${name} set logged;`).join(' '),
    );
  }
  if (table.hasChildren) {
    return fail(
      `other tables inherit from ${table.name}: the log has their rows under their names`,
      `Make it a partitioned table, or end the inheritance: alter table <child> no inherit ${table.sqlName};`,
    );
  }
  return pass(`${table.name}${table.kind === 'partitioned' ? ', partitioned' : ''}`);
}

function columnsVerdict({ table, outbox }: Outbox): Verdict {
  const columns = new Map(table.columns.map((column) => [column.name, column]));
  const mapped = mappedColumns(outbox);
  const missing = mapped.filter((name) => !columns.has(name));
  if (missing.length > 0) {
    return fail(
      `${table.name} has no column ${missing.join(', ')}`,
      `Correct the outbox options; it has ${[...columns.keys()].join(', ')}.`,
    );
  }
  const generated = mapped.filter((name) => columns.get(name)?.isGenerated === true);
  if (generated.length === 0) return pass(mapped.join(', '));
  return fail(
    `generated, so the log does not have it: ${generated.join(', ')}`,
    generated
      .map((name) => `alter table ${table.sqlName} alter column ${quoteName(name)} drop expression;`)
      .join(' '),
  );
}

const JSON_TYPES = /^(json|jsonb|text|character varying|bpchar)$/;

function headersVerdict({ table, outbox }: Outbox): Verdict | null {
  const column = table.columns.find(({ name }) => name === outbox.headers);
  if (column === undefined) return null;
  const found = `${column.name} ${column.type}`;
  if (JSON_TYPES.test(column.type)) return pass(found);
  return warn(
    found,
    `alter table ${table.sqlName} alter column ${quoteName(column.name)} type jsonb using to_jsonb(${quoteName(column.name)});`,
  );
}

function idVerdict({ table, outbox: { id } }: Outbox): Verdict {
  if (table.uniqueKeys.some((key) => key.length === 1 && key[0] === id)) return pass(`${id} is unique`);
  // A unique key of a partitioned table must have the columns of the partitioning in it.
  if (table.kind === 'partitioned' && table.uniqueKeys.some((key) => key.includes(id)))
    return pass(`${id} is unique together with what the table is partitioned by`);
  return warn(
    `nothing keeps two rows from having one ${id}`,
    `alter table ${table.sqlName} add unique (${quoteName(id)});`,
  );
}

function keyVerdict({ facts, table, outbox: { key } }: Outbox): Verdict | null {
  if (typeof key === 'function' || facts.config.nullKey === 'unordered') return null;
  const names = [key].flat();
  const nullable = table.columns
    .filter(({ name, isNullable }) => isNullable && names.includes(name))
    .map(({ name }) => name);
  if (nullable.length === 0) return pass(`${names.join(', ')} not null`);
  return warn(
    `${nullable.join(', ')} may be null`,
    `${nullable.map((name) => `alter table ${table.sqlName} alter column ${quoteName(name)} set not null;`).join(' ')} -- or nullKey: 'unordered'`,
  );
}

function selectVerdict({ facts: { config, offset, server }, table }: Outbox): Verdict | null {
  if (config.start !== 'snapshot' || offset !== null) return null;
  if (!table.maySelect)
    return fail(
      `${server.role} may not read ${table.name}`,
      `grant select on ${table.sqlName} to ${server.role};`,
    );
  if (table.hidesRows) {
    return fail(
      `row security hides rows of ${table.name} from ${server.role}`,
      `alter role ${server.role} bypassrls;`,
    );
  }
  return pass(`${server.role} may read ${table.name}`);
}

function identityVerdict({ facts, table }: Outbox): Verdict {
  const [first] = table.withoutIdentity;
  if (first === undefined) return pass(`${table.name} has one`);
  const publications = answerOf(facts.publications).filter(({ updates, deletes }) => updates || deletes);
  if (publications.length === 0) return pass(`${first} has none, and no publication needs it`);
  const names = publications.map(({ name }) => name).join(', ');
  const kinds = [
    ...(publications.some(({ updates }) => updates) ? ['updates'] : []),
    ...(publications.some(({ deletes }) => deletes) ? ['deletes'] : []),
  ];
  return fail(
    `${first} has none, and the publication ${names} publishes its ${kinds.join(' and ')}`,
    table.withoutIdentity.map((name) => `alter table ${name} replica identity full;`).join(' '),
  );
}
