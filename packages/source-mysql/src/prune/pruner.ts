import type {
  HeldBack,
  Offset,
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
import type { MysqlConfig } from '../config.js';
import { errnoOf } from '../connect-errors.js';
import { derivedServerId, queryRows, randomServerId, type Connector } from '../connection.js';
import { mysqlError } from '../errors.js';
import { readBegun } from '../file-begun.js';
import { lockName } from '../lock.js';
import type { LogPlace } from '../log-place.js';
import { parseLogPosition, placePosition } from '../position.js';
import { inspectServer, type ServerFacts } from '../server.js';
import type { Session } from '../session.js';
import { findTable, type TableFacts } from '../table.js';
import { fileOf, notSettled, relationOf, type OutboxPlace } from './held-back.js';
import { Load } from './load.js';
import { logEnd } from './log-end.js';
import { Partitions } from './partitions.js';
import { findIndexes, keyOf } from './row-key.js';
import { ageTest } from './row-time.js';
import { Rows, tableName } from './rows.js';

/** Whoever uses a row, or the table, is waited for a second. Rows of others need no gaps locked around ours. */
const SESSION = [
  'set session transaction isolation level read committed',
  'set session innodb_lock_wait_timeout = 1',
  'set session lock_wait_timeout = 1',
] as const;

/** Names of pipelines have no slash. */
const LOCK = 'prune/';

/** Opens a session of its own; null while another one prunes this outbox. */
export async function openPruner(
  connector: Connector,
  config: MysqlConfig,
  asked: PrunerRequest,
): Promise<OutboxPruner | null> {
  const sql = await connector.connect();
  try {
    const facts = await inspectServer(connector, sql, config.metadata);
    const table = await findTable(sql, config.outbox);
    if (!asked.dryRun) {
      for (const statement of SESSION) await sql.run(statement);
      await checkRight(sql, table);
      if (!(await tryLock(sql, table))) {
        sql.destroy();
        return null;
      }
    }
    const indexes = await findIndexes(sql, table);
    const key = keyOf(indexes, table);
    const age = ageTest(asked, table, key);
    const byAge = age.column !== null && indexes.some(({ columns }) => columns[0] === age.column);
    return new MysqlPruner({
      ...{ sql, connector, config, asked, facts, table },
      rows: new Rows({ sql, table, key, age, byAge }, asked.keep),
      partitions: new Partitions(sql, table, age, asked.log),
      load: new Load(sql, asked.replicas, config, asked.signal),
    });
  } catch (error) {
    sql.destroy();
    throw error;
  }
}

interface Parts {
  readonly sql: Session;
  readonly connector: Connector;
  readonly config: MysqlConfig;
  readonly asked: PrunerRequest;
  readonly facts: ServerFacts;
  readonly table: TableFacts;
  readonly rows: Rows;
  readonly partitions: Partitions;
  readonly load: Load;
}

class MysqlPruner implements OutboxPruner {
  readonly outbox: string;
  readonly #parts: Parts;
  readonly #place: OutboxPlace;
  /** When files of the log were begun, by name: as long as the log is not reset. */
  readonly #begun = new Map<string, number>();
  readonly #close = (): void => {
    this.#parts.load.close();
    this.#parts.sql.destroy();
  };

  constructor(parts: Parts) {
    const { facts, table, asked } = parts;
    this.#parts = parts;
    this.outbox = table.label;
    this.#place = {
      flavour: facts.flavour,
      server: facts.server,
      table: table.label,
      gtids: facts.gtids,
    };
    asked.signal.addEventListener('abort', this.#close, { once: true });
  }

  relationOf(identity: SourceIdentity): Relation {
    return relationOf(identity, this.#place);
  }

  look(after: RowKey | null, limit: number): Promise<RowsLook> {
    return this.#parts.rows.look(after, limit);
  }

  async end(): Promise<Position> {
    const { sql, facts } = this.#parts;
    return placePosition(facts.server, await logEnd(sql, facts));
  }

  async heldBack(
    end: Position,
    pipelines: readonly RegisteredPipeline[],
    named: readonly string[],
  ): Promise<readonly HeldBack[]> {
    const { sql, facts } = this.#parts;
    const wanted = parseLogPosition(end);
    const now = await logEnd(sql, facts);
    const heldBack: HeldBack[] = [];
    for (const { pipeline, offset } of pipelines) {
      const relation = this.relationOf(offset.identity);
      if (relation === 'other' || wanted === null) continue;
      const why =
        relation === 'unknown'
          ? 'its offset does not say which table it reads'
          : await this.#notSettled(wanted, offset, now, named.includes(pipeline));
      if (why !== null) heldBack.push({ who: `pipeline ${pipeline}`, at: offset.watermark, why });
    }
    return heldBack;
  }

  remove(keys: readonly RowKey[]): Promise<number | 'locked'> {
    return this.#parts.rows.remove(keys);
  }

  async partitions(): Promise<readonly OldPartition[]> {
    // Their rows could not be told by a log that has no names of columns: the table changes with each of them.
    if (this.#parts.config.metadata === 'minimal') return [];
    return this.#parts.partitions.list(await this.#parts.rows.cutoff());
  }

  setAside(partition: OldPartition): Promise<'done' | 'locked' | 'refused'> {
    return this.#parts.partitions.setAside(partition);
  }

  drop(partition: OldPartition): Promise<'done' | 'locked'> {
    return this.#parts.partitions.drop(partition);
  }

  load(): Promise<ServerLoad> {
    return this.#parts.load.look();
  }

  survey(): Promise<{ old: number; oldest: string | null }> {
    return this.#parts.rows.survey();
  }

  oldest(): Promise<string | null> {
    return this.#parts.rows.oldest();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#parts.asked.signal.removeEventListener('abort', this.#close);
    this.#close();
    return Promise.resolve();
  }

  async #notSettled(end: LogPlace, offset: Offset, now: LogPlace, named: boolean): Promise<string | null> {
    const why = notSettled(end, offset, this.#place, now, named);
    if (why !== null) {
      this.#begun.clear();
      return why;
    }
    // After a reset of the log the same names and numbers come again.
    const saved = fileOf(offset.watermark, this.#place.server);
    if (saved === null || (await this.#begunOf(saved.file)) === saved.begun) return null;
    return `its offset lies in ${saved.file}, which this server does not have any more`;
  }

  async #begunOf(file: string): Promise<number | null> {
    const known = this.#begun.get(file);
    if (known !== undefined) return known;
    const { sql, connector, config, asked } = this.#parts;
    const files = await queryRows(sql, 'show binary logs');
    if (!files.some((row) => row['Log_name'] === file)) return null;
    const serverId = randomServerId(derivedServerId(asked.pipeline));
    const begun = await readBegun(connector.options, serverId, file, config.silenceTimeout);
    this.#begun.set(file, begun);
    return begun;
  }
}

/** Deletes nothing, and is refused where the user may not delete. */
async function checkRight(sql: Session, table: TableFacts): Promise<void> {
  try {
    await sql.run(`delete from ${tableName(table)} where false`);
  } catch (cause) {
    // ER_TABLEACCESS_DENIED_ERROR
    if (errnoOf(cause) !== 1142) throw cause;
    const [row] = await queryRows(sql, 'select current_user() as account');
    throw mysqlError(
      'MYSQL_PRUNE_PRIVILEGE',
      `This user may not delete rows of ${table.label}.`,
      `Run: grant delete on ${table.label} to ${accountOf(row?.['account'] ?? '')};`,
      { cause },
    );
  }
}

/** `'shop'@'%'` */
function accountOf(account: string): string {
  const at = account.lastIndexOf('@');
  return `'${account.slice(0, at)}'@'${account.slice(at + 1)}'`;
}

/** Goes with the session. */
async function tryLock(sql: Session, table: TableFacts): Promise<boolean> {
  const [row] = await queryRows(sql, 'select get_lock(?, 0) as locked', [lockName(table.label, LOCK)]);
  return Number(row?.['locked']) === 1;
}
