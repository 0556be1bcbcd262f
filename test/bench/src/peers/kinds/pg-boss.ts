import type { PeerRow } from '../peer.js';
import type { PeerKind } from '../process/kind.js';
import { importPackage } from '../process/packages.js';
import { onEachRow, rowJson, withoutTrigger } from './outbox-trigger.js';

interface Boss {
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean; readonly close: boolean }): Promise<void>;
  createQueue(name: string, options: Readonly<Record<string, unknown>>): Promise<void>;
  work(
    name: string,
    options: Readonly<Record<string, unknown>>,
    handler: (jobs: readonly { readonly data: PeerRow }[]) => Promise<void>,
  ): Promise<string>;
  on(event: 'error', listener: (error: Error) => void): void;
}

/** The slice of the package that is used. */
interface PgBossModule {
  readonly PgBoss: new (options: Readonly<Record<string, unknown>>) => Boss;
}

const PACKAGE = 'pg-boss';
const QUEUE = 'outbox';
/** Most jobs of one batch: of each key the first, as long as none of it is being worked on. */
const MOST = 2_500;

/**
 * What `send()` inserts into the job table, for whoever is in SQL (https://timgit.github.io/pg-boss/sql/job-table).
 * Its order within a key is that of `created_on`, which is by default the time at which the transaction began.
 */
const insertJobs = (from: string, row: string, createdOn: string): string => `
  insert into pgboss.job (name, data, singleton_key, created_on, policy, retry_limit, retry_delay, expire_seconds,
      heartbeat_seconds)
    select q.name, ${rowJson(row)}::jsonb, ${row}.key::text, ${createdOn}, q.policy, q.retry_limit, q.retry_delay,
      q.expire_seconds, q.heartbeat_seconds
    from ${from} pgboss.queue q where q.name = '${QUEUE}'`;

/**
 * A queue with the policy `key_strict_fifo`: a key waits while a job of it is active, waits for a retry or has failed.
 * Workers fetch on while batches are full. The heartbeat lets it notice a worker that died.
 * https://timgit.github.io/pg-boss/api/queues and https://timgit.github.io/pg-boss/api/workers
 */
export const pgBoss: PeerKind = {
  name: 'pg-boss, strict FIFO per key',
  goal: 10,
  package: PACKAGE,
  install: async (sql, { url }) => {
    const boss = await open(url);
    await boss.createQueue(QUEUE, { policy: 'key_strict_fifo', heartbeatSeconds: 10 });
    await boss.stop({ graceful: false, close: true });
    await sql.query(onEachRow('boss_add', insertJobs('', 'new', 'now()')));
  },
  /** Each job is created a microsecond after the one before: among those of one moment its order is that of random ids. */
  load: async (sql) => {
    await sql.query('truncate pgboss.job');
    const createdOn = "now() - interval '1 hour' + o.id * interval '1 microsecond'";
    await sql.query(`${insertJobs('outbox o,', 'o', createdOn)} order by o.id`);
    await sql.query('vacuum analyze pgboss.job');
  },
  uninstall: async (sql) => {
    await sql.query(`${withoutTrigger('boss_add')}; drop schema if exists pgboss cascade`);
  },
  consume: async ({ url }, handle, { keys }) => {
    const boss = await open(url);
    const batchSize = Math.max(1, Math.min(MOST, Math.floor(keys / 2)));
    await boss.work(
      QUEUE,
      { batchSize, burstWhenBatchFull: true, burstWhenReadyExceeds: 1, pollingIntervalSeconds: 0.5 },
      async (jobs) => {
        await Promise.all(jobs.map(({ data }) => handle(data)));
      },
    );
    return { stop: () => boss.stop({ graceful: true, close: true }) };
  },
};

async function open(url: string): Promise<Boss> {
  const { PgBoss } = (await importPackage(PACKAGE)) as PgBossModule;
  const boss = new PgBoss({
    connectionString: url,
    ...{ superviseIntervalSeconds: 1, monitorIntervalSeconds: 1, queueCacheIntervalSeconds: 1 },
  });
  boss.on('error', (error) => {
    process.stderr.write(`${error.message}\n`);
  });
  await boss.start();
  return boss;
}
