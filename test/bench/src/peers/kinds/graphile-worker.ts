import pg from 'pg';
import type { PeerRow } from '../peer.js';
import type { PeerKind } from '../process/kind.js';
import { importPackage } from '../process/packages.js';
import { onEachRow, rowJson, withoutTrigger } from './outbox-trigger.js';

/** The slice of the package that is used. */
interface GraphileWorker {
  runMigrations(options: { readonly connectionString: string; readonly logger: object }): Promise<void>;
  run(options: {
    readonly connectionString: string;
    readonly noHandleSignals: boolean;
    readonly crontab: string;
    readonly logger: object;
    readonly taskList: Readonly<Record<string, (payload: unknown) => Promise<void>>>;
    readonly preset: { readonly worker: Readonly<Record<string, unknown>> };
  }): Promise<{ stop(): Promise<void> }>;
  readonly Logger: new (factory: () => (level: string, message: string) => void) => object;
}

const PACKAGE = 'graphile-worker';
const TASK = 'handle';
/** Jobs of one statement of `add_jobs`. */
const CHUNK = 20_000;

/**
 * What its page on performance gives for many small jobs: 24 jobs at once, and batches in and out. The local queue is four
 * times as large as there, which we measured to be better by half where each batch looks through 5,000 queues. A batch has
 * one job of each queue at most, and one that isn't full is followed by a pause: with few keys the queue is shorter.
 * https://worker.graphile.org/docs/performance
 */
const workerFor = (keys: number): Readonly<Record<string, unknown>> => ({
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: Math.min(2_000, Math.floor(keys / 2)) },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
});

/**
 * One named queue per key: jobs of a queue run one at a time. (https://worker.graphile.org/docs/sql-add-job, which
 * advises against many queue names; there is no other way to have an order per key.)
 */
export const graphileWorker: PeerKind = {
  name: 'graphile-worker, a queue per key, tuned',
  goal: 6,
  package: PACKAGE,
  install: async (sql, { url }) => {
    const worker = (await importPackage(PACKAGE)) as GraphileWorker;
    await worker.runMigrations({ connectionString: url, logger: quiet(worker) });
    await sql.query(
      onEachRow(
        'graphile_worker_add',
        `perform graphile_worker.add_job('${TASK}', ${rowJson('new')}, queue_name := new.key::text)`,
      ),
    );
  },
  /** Each job is due a microsecond after the one before: among those of one moment its order is open. */
  load: async (sql) => {
    await sql.query(
      'truncate graphile_worker._private_jobs, graphile_worker._private_job_queues restart identity cascade',
    );
    const { rows } = await sql.query<{ most: number }>('select max(id)::int as most from outbox');
    for (let from = 1; from <= (rows[0]?.most ?? 0); from += CHUNK) {
      await sql.query(
        `select count(*) from (select array_agg(
            row('${TASK}', ${rowJson('o')}, o.key::text, now() - interval '1 hour' + o.id * interval '1 microsecond',
              null, null, null, null)::graphile_worker.job_spec order by o.id) as specs
          from outbox o where o.id between $1 and $2) as chunk, graphile_worker.add_jobs(specs)`,
        [from, from + CHUNK - 1],
      );
    }
    await sql.query('vacuum analyze graphile_worker._private_jobs, graphile_worker._private_job_queues');
  },
  uninstall: async (sql) => {
    await sql.query(
      `${withoutTrigger('graphile_worker_add')}; drop schema if exists graphile_worker cascade`,
    );
  },
  consume: async ({ url }, handle, { keys }) => {
    const worker = (await importPackage(PACKAGE)) as GraphileWorker;
    await unlockTheDead(url);
    return worker.run({
      connectionString: url,
      noHandleSignals: true,
      crontab: '',
      logger: quiet(worker),
      taskList: { [TASK]: (payload) => handle(payload as PeerRow) },
      preset: { worker: workerFor(keys) },
    });
  },
};

/**
 * Jobs of a worker that died stay locked for four hours, unless whoever knows that it died says so: here nobody else can
 * be alive. https://worker.graphile.org/docs/admin-functions#force-unlock-workers
 */
async function unlockTheDead(url: string): Promise<void> {
  const sql = new pg.Client({ connectionString: url });
  await sql.connect();
  await sql.query(`select graphile_worker.force_unlock_workers(array(
    select locked_by from graphile_worker._private_jobs where locked_by is not null union
    select locked_by from graphile_worker._private_job_queues where locked_by is not null))`);
  await sql.end();
}

function quiet({ Logger }: GraphileWorker): object {
  return new Logger(() => (level, message) => {
    if (level === 'error') process.stderr.write(`${message}\n`);
  });
}
