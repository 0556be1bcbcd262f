import type {
  HeldBack,
  OldPartition,
  OutboxPruner,
  Position,
  PrunerRequest,
  RegisteredPipeline,
  Relation,
  RowKey,
  RowsLook,
  ServerLoad,
  SourceIdentity,
} from '@strandline/core';
import type pg from 'pg';
import { endClient, socketOf } from '../connection.js';
import { postgresError } from '../errors.js';
import { parseLsn } from '../lsn.js';
import { findOutboxTable, type TableFacts } from '../outbox-table.js';
import { inspectServer } from '../server.js';
import type { SessionRequest } from '../session.js';
import { findFamily } from './family.js';
import {
  pipelinesBehind,
  relationOf,
  slotsBehind,
  type LogNow,
  type OtherSlot,
  type OutboxIdentity,
} from './held-back.js';
import { serverLoad } from './load.js';
import { logEnd } from './log-end.js';
import { Partitions } from './partitions.js';
import { findKey, isIndexed } from './row-key.js';
import { ageTest } from './row-time.js';
import { Rows } from './rows.js';

/** Milliseconds: whoever uses a row is not waited for longer, and no statement takes longer. */
const LIMITS = ['set lock_timeout = 1000', 'set statement_timeout = 10000'] as const;

/** Opens a session of its own; null while another one prunes this outbox. */
export async function openPruner(
  request: SessionRequest,
  asked: PrunerRequest,
): Promise<OutboxPruner | null> {
  const { connector, config } = request;
  if (config.outbox === null) {
    throw postgresError(
      'PG_PRUNE_TABLE',
      'The pipeline reads messages and no table: there are no rows to delete.',
      'Leave prune out: the server lets go of messages with its log.',
    );
  }
  const sql = await connector.sql();
  try {
    const { systemIdentifier } = await inspectServer(connector, sql);
    const table = await findOutboxTable(sql, config.outbox);
    const { database, user } = await checkRights(sql, table, asked.dryRun);
    if (!asked.dryRun && !(await tryLock(sql, table))) {
      await endClient(sql);
      return null;
    }
    const key = await findKey(sql, table);
    const age = ageTest(asked, table, key);
    const byAge = age.column !== null && (await isIndexed(sql, table, age.column));
    if (!asked.dryRun) for (const limit of LIMITS) await sql.query(limit);
    const tables = await findFamily(sql, table);
    const rows = new Rows({ sql, table, key, age, byAge }, asked.keep);
    return new PostgresPruner(sql, {
      identity: { system: systemIdentifier, database, tables },
      table: table.name,
      user,
      rows,
      partitions: new Partitions(sql, table, age, asked.log),
      asked,
    });
  } catch (error) {
    await endClient(sql);
    throw error;
  }
}

interface Parts {
  readonly identity: OutboxIdentity;
  readonly table: string;
  readonly user: string;
  readonly rows: Rows;
  readonly partitions: Partitions;
  readonly asked: PrunerRequest;
}

class PostgresPruner implements OutboxPruner {
  readonly outbox: string;
  readonly #sql: pg.Client;
  readonly #parts: Parts;
  readonly #abort = (): void => {
    socketOf(this.#sql).destroy();
  };

  constructor(sql: pg.Client, parts: Parts) {
    this.#sql = sql;
    this.#parts = parts;
    this.outbox = `${parts.identity.database}.${parts.table}`;
    parts.asked.signal.addEventListener('abort', this.#abort, { once: true });
  }

  relationOf(identity: SourceIdentity): Relation {
    return relationOf(identity, this.#parts.identity);
  }

  look(after: RowKey | null, limit: number): Promise<RowsLook> {
    return this.#parts.rows.look(after, limit);
  }

  end(): Promise<Position> {
    return logEnd(this.#sql);
  }

  async heldBack(end: Position, pipelines: readonly RegisteredPipeline[]): Promise<readonly HeldBack[]> {
    const now = await logNow(this.#sql);
    const { system, database } = this.#parts.identity;
    // Those of pipelines on other tables of this database, too: what they have to settle is elsewhere.
    const known = pipelines.flatMap(({ offset: { identity } }) =>
      identity['system'] === system && identity['database'] === database ? (identity['slot'] ?? []) : [],
    );
    const slots = await otherSlots(this.#sql, [...known, ...this.#parts.asked.ignoreSlots]);
    const readers = pipelines.filter(({ offset }) => this.relationOf(offset.identity) !== 'other');
    return [...pipelinesBehind(end, readers, now), ...slotsBehind(end, slots)];
  }

  remove(keys: readonly RowKey[]): Promise<number | 'locked'> {
    return this.#parts.rows.remove(keys);
  }

  async partitions(): Promise<readonly OldPartition[]> {
    return this.#parts.partitions.list(await this.#parts.rows.cutoff());
  }

  setAside(partition: OldPartition): Promise<'done' | 'locked' | 'refused'> {
    return this.#parts.partitions.setAside(partition);
  }

  drop(partition: OldPartition): Promise<'done' | 'locked'> {
    return this.#parts.partitions.drop(partition);
  }

  load(): Promise<ServerLoad> {
    return serverLoad(this.#sql, this.#parts.user);
  }

  survey(): Promise<{ old: number; oldest: string | null }> {
    return this.#parts.rows.survey();
  }

  oldest(): Promise<string | null> {
    return this.#parts.rows.oldest();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#parts.asked.signal.removeEventListener('abort', this.#abort);
    await endClient(this.#sql);
  }
}

async function checkRights(
  sql: pg.Client,
  table: TableFacts,
  dryRun: boolean,
): Promise<{ readonly database: string; readonly user: string }> {
  const { rows } = await sql.query<{ database: string; user: string; select: boolean; delete: boolean }>(
    `select current_database() as database, quote_ident(current_user) as user,
            has_table_privilege($1::oid, 'select') as select, has_table_privilege($1::oid, 'delete') as delete`,
    [table.oid],
  );
  const [row] = rows;
  const { database = '', user = '' } = row ?? {};
  if (row?.select !== true || (!dryRun && !row.delete)) {
    throw postgresError(
      'PG_PRUNE_PRIVILEGE',
      `This user may not ${row?.select === true ? 'delete' : 'read'} rows of ${table.name}.`,
      `Run: grant select, delete on ${table.sqlName} to ${user};`,
    );
  }
  return { database, user };
}

/** Goes with the session. */
async function tryLock(sql: pg.Client, table: TableFacts): Promise<boolean> {
  const { rows } = await sql.query<{ locked: boolean }>(
    "select pg_try_advisory_lock(hashtext('strandline/prune'), hashtext($1)) as locked",
    [String(table.oid)],
  );
  return rows[0]?.locked === true;
}

async function logNow(sql: pg.Client): Promise<LogNow> {
  // The name of the file that is written to begins with the timeline, in eight hexadecimal digits.
  const { rows } = await sql.query<{ end: string; file: string }>(
    'select pg_current_wal_insert_lsn()::text as end, pg_walfile_name(pg_current_wal_insert_lsn()) as file',
  );
  return {
    end: parseLsn(rows[0]?.end ?? '') ?? 0n,
    timeline: Number.parseInt((rows[0]?.file ?? '').slice(0, 8), 16),
  };
}

async function otherSlots(sql: pg.Client, known: readonly string[]): Promise<readonly OtherSlot[]> {
  // A temporary one goes with its reader, who has to begin anew anyhow.
  const { rows } = await sql.query<{ name: string; confirmed: string | null; status: string | null }>(
    `select slot_name as name, confirmed_flush_lsn::text as confirmed, wal_status as status from pg_replication_slots
     where slot_type = 'logical' and database = current_database() and not temporary and slot_name <> all ($1::text[])
     order by slot_name`,
    [known],
  );
  return rows.map(({ name, confirmed, status }) => ({
    name,
    confirmed: parseLsn(confirmed ?? ''),
    lost: status === 'lost',
  }));
}
