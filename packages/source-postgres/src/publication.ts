import type pg from 'pg';
import { errorCodeOf } from './connect-errors.js';
import { unhurried } from './connection.js';
import type { OutboxTable } from '@strandline/source-kit';
import { postgresError } from './errors.js';
import type { TableFacts } from './outbox-table.js';
import { quoteName } from './quote.js';

/** What the stream depends on in a publication. */
export interface PublicationFacts {
  /** Changes when it is dropped and made anew. */
  readonly oid: string;
  /** Changes when the table is taken out and put back, or filtered; empty when it is not named in it. */
  readonly membership: string;
}

const FIND_PUBLICATION = `
  select p.oid::int8::text as oid, p.pubinsert as "publishesInsert", p.pubviaroot as "viaRoot"
  from pg_publication p where p.pubname = $1`;

/** Column lists and row filters came with version 15. */
function findTable(version: number): string {
  const extra =
    version >= 150_000
      ? 'attnames::text[] as columns, rowfilter as filter'
      : 'null as columns, null as filter';
  return `select ${extra} from pg_publication_tables where pubname = $1 and schemaname || '.' || tablename = $2`;
}

/** The publication, or null when there is none of that name. Throws `PG_PUBLICATION_MISMATCH` when it does not fit. */
export async function findPublication(
  sql: pg.Client,
  name: string,
  version: number,
  table: TableFacts | null,
  outbox: OutboxTable | null,
): Promise<PublicationFacts | null> {
  const found = await sql.query<{ oid: string; publishesInsert: boolean; viaRoot: boolean }>(
    FIND_PUBLICATION,
    [name],
  );
  const publication = found.rows[0];
  if (publication === undefined) return null;
  const mismatch = (problem: string): Error =>
    postgresError(
      'PG_PUBLICATION_MISMATCH',
      `The publication ${name} ${problem}.`,
      "Alter it, or let Strandline create one of its own: name another in postgres({ publication: '…' }).",
    );
  if (!publication.publishesInsert) throw mismatch('does not publish inserts');
  if (table === null || outbox === null) return { oid: publication.oid, membership: '' };
  const member = await sql.query<{ columns: string[] | null; filter: string | null }>(findTable(version), [
    name,
    table.name,
  ]);
  const row = member.rows[0];
  if (row === undefined) {
    throw mismatch(
      table.partitioned && !publication.viaRoot
        ? `publishes the partitions of ${table.name} under their own names (publish_via_partition_root is off)`
        : `does not contain the table ${table.name}`,
    );
  }
  if (row.filter !== null)
    throw mismatch(`filters the rows of ${table.name}: rows that it leaves out would be lost`);
  const missing =
    row.columns === null ? [] : mappedColumns(outbox).filter((column) => !row.columns?.includes(column));
  if (missing.length > 0)
    throw mismatch(`leaves out the mapped columns ${missing.join(', ')} of ${table.name}`);
  const { rows } = await sql.query<{ oid: string }>(
    'select oid::int8::text as oid from pg_publication_rel where prpubid = $1::oid and prrelid = $2::oid',
    [publication.oid, table.oid],
  );
  return { oid: publication.oid, membership: rows[0]?.oid ?? '' };
}

export function mappedColumns(outbox: OutboxTable): string[] {
  const { id, key, type, payload, headers, columns } = outbox;
  const keys = typeof key === 'function' ? [] : [key].flat();
  return [id, ...keys, type, payload, headers, ...columns].filter((name) => name !== undefined);
}

/** Creates a publication of our own: inserts of the outbox table, partitions under the root's name. */
export async function createPublication(
  sql: pg.Client,
  name: string,
  table: TableFacts | null,
): Promise<void> {
  // A publication without a table is what a tableless outbox needs: logical messages belong to no table.
  const target = table === null ? '' : ` for table ${table.sqlName}`;
  const options = "with (publish = 'insert', publish_via_partition_root = true)";
  try {
    await sql.query(unhurried(`create publication ${quoteName(name)}${target} ${options}`));
  } catch (cause) {
    // Another process of this pipeline was faster: 42710, or 23505 when it committed while we were at it.
    if (errorCodeOf(cause) === '42710' || errorCodeOf(cause) === '23505') return;
    if (errorCodeOf(cause) !== '42501') throw cause;
    throw publicationMissing(name, table, cause);
  }
}

export function publicationMissing(name: string, table: TableFacts | null, cause?: unknown): Error {
  return postgresError(
    'PG_PUBLICATION_MISSING',
    `There is no publication ${name}${cause === undefined ? '' : ', and this user may not create it'}.`,
    `Run as the table's owner, before the slot is created: create publication ${quoteName(name)}` +
      `${table === null ? '' : ` for table ${table.sqlName}`} with (publish = 'insert', publish_via_partition_root = true);`,
    { cause },
  );
}
