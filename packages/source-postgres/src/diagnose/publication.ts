import { answerOf, fail, pass, type Check, type Verdict } from '@strandline/core';
import { mappedColumns } from '../publication.js';
import { quoteName } from '../quote.js';
import type { PostgresFacts, PublicationState, TableState } from './facts.js';

/** A check of a publication that is there, and of the table where there is one. */
function ofPublication(
  judge: (publication: PublicationState, table: TableState | null, facts: PostgresFacts) => Verdict | null,
): (facts: PostgresFacts) => Verdict | null {
  return (facts) => {
    const publication = answerOf(facts.publication);
    return publication === null ? null : judge(publication, tableOf(facts), facts);
  };
}

export const PUBLICATION_CHECKS: readonly Check<PostgresFacts>[] = [
  {
    check: 'postgres-publication',
    why: 'The slot sends what the publication names. One that is younger than the slot covers nothing that the slot has kept.',
    judge: publicationVerdict,
  },
  {
    check: 'postgres-publication-inserts',
    why: 'Inserts are the events.',
    judge: ofPublication(({ name, inserts, updates, deletes, truncates }) => {
      if (inserts) return pass('inserts are published');
      const kinds = [
        'insert',
        ...(updates ? ['update'] : []),
        ...(deletes ? ['delete'] : []),
        ...(truncates ? ['truncate'] : []),
      ];
      return fail(
        `${name} does not publish inserts`,
        `alter publication ${quoteName(name)} set (publish = '${kinds.join(', ')}');`,
      );
    }),
  },
  {
    check: 'postgres-publication-table',
    why: 'Rows of a table that is not in it are not in the stream.',
    judge: ofPublication(tableInPublication),
  },
  {
    check: 'postgres-publication-rows',
    why: 'Rows that a filter leaves out are lost.',
    judge: ofPublication((publication, table) => {
      const filter = publication.entry?.filter ?? null;
      if (table === null || publication.entry === null) return null;
      return filter === null
        ? pass('no filter on the rows')
        : fail(`${publication.name} filters the rows: ${filter}`, addedAnew(publication, table));
    }),
  },
  {
    check: 'postgres-publication-columns',
    why: 'Columns that its list leaves out are not in the stream.',
    judge: ofPublication((publication, table, { config }) => {
      const { outbox } = config;
      if (table === null || outbox === null || publication.entry === null) return null;
      const { columns } = publication.entry;
      const missing = columns === null ? [] : mappedColumns(outbox).filter((name) => !columns.includes(name));
      return missing.length === 0
        ? pass('every mapped column is published')
        : fail(
            `${publication.name} leaves out the mapped columns ${missing.join(', ')}`,
            addedAnew(publication, table),
          );
    }),
  },
];

function tableOf({ table: asked }: PostgresFacts): TableState | null {
  const table = asked === null ? null : answerOf(asked);
  return table === 'missing' ? null : table;
}

function publicationVerdict(facts: PostgresFacts): Verdict {
  const { config, publicationName: name, offset, server } = facts;
  const found = answerOf(facts.publication);
  if (found !== null) return pass(`${name}${found.allTables ? ', for all tables' : ''}`);
  const table = tableOf(facts);
  const create = `create publication ${quoteName(name)}${table === null ? '' : ` for table ${table.sqlName}`} with (publish = 'insert', publish_via_partition_root = true);`;
  const hasRun = offset !== null || ('answer' in facts.slots && facts.slots.answer.ours !== null);
  if (hasRun) {
    return fail(
      `there is no publication ${name}, though the pipeline has run`,
      'Look first for who dropped it: one that is made now does not cover what the slot has kept. Start the pipeline: it stops with an error that says what can be done.',
    );
  }
  if (!config.create) return fail(`there is no publication ${name}, and create is off`, create);
  const isAllowed = server.isSuperuser || (server.mayCreate && (table?.isOwner ?? true));
  if (isAllowed) return pass(`there is no publication ${name} yet: the first start makes it`);
  return fail(
    `there is no publication ${name}, and ${server.role} may not make it: that takes CREATE on the database and ownership of the table`,
    `${create} -- as the owner of the table, before the first start`,
  );
}

function tableInPublication(publication: PublicationState, table: TableState | null): Verdict | null {
  if (table === null) return null;
  const { name, entry, viaRoot } = publication;
  if (entry !== null) return pass(`${table.name} is in it`);
  return table.kind === 'partitioned' && !viaRoot
    ? fail(
        `${name} publishes the partitions of ${table.name} under their own names`,
        `alter publication ${quoteName(name)} set (publish_via_partition_root = true);`,
      )
    : fail(
        `${table.name} is not in ${name}`,
        `alter publication ${quoteName(name)} add table ${table.sqlName};`,
      );
}

/** SET TABLE would take out the others. */
function addedAnew({ name }: PublicationState, { sqlName }: TableState): string {
  const alter = `alter publication ${quoteName(name)}`;
  return `begin; ${alter} drop table ${sqlName}; ${alter} add table ${sqlName}; commit;`;
}
