import { StrandlineError, type Pipeline } from 'strandline';
import { startAdmin, type Admin } from 'strandline/admin';
import { KINDS } from './database/kinds.js';
import { shopPipeline } from './shop-pipeline.js';
import { SETTINGS_VARIABLE, STOP, type WorkerSettings, type WorkerStatus } from './worker-messages.js';

/** The process that is killed. Around the pipeline there is only what ties it to the process that started it. */
const HANDLER_CONNECTIONS = 32;
const STATUS_EVERY_MS = 100;

async function work(settings: WorkerSettings): Promise<void> {
  await using shop = KINDS[settings.database].open(settings.url, 'shop handler', HANDLER_CONNECTIONS);
  let handled = 0;
  const pipeline = shopPipeline(settings, shop, () => (handled += 1));
  process.on('message', (message) => {
    if (message === STOP) void pipeline.stop();
  });

  await using admin = settings.stays ? await openConsole(pipeline) : null;
  await pipeline.start();
  const reporting = setInterval(() => {
    report(pipeline, handled, admin?.url ?? null);
  }, STATUS_EVERY_MS);
  try {
    await pipeline.finished;
  } finally {
    clearInterval(reporting);
  }
}

/** The port that the documentation names, and Prometheus looks at; any other where that one is taken. */
async function openConsole(pipeline: Pipeline): Promise<Admin> {
  const pipelines = [pipeline];
  try {
    return await startAdmin({ pipelines, address: '9464' });
  } catch {
    return startAdmin({ pipelines, address: '0' });
  }
}

function report(pipeline: Pipeline, handled: number, consoleUrl: string | null): void {
  const { state, running, source } = pipeline.status();
  const status: WorkerStatus = {
    state,
    running,
    lagBytes: source?.lagBytes ?? null,
    handled,
    console: consoleUrl,
  };
  if (process.connected) process.send?.(status);
}

function describe(error: unknown): string {
  if (error instanceof StrandlineError) return `${String(error.code)}: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Ctrl-C reaches the whole process group at once; it is the parent that decides what becomes of this process. */
process.on('SIGINT', () => undefined);
/**
 * The channel closes when the parent dies, however it dies. Nobody is left then to stop this process, and the
 * server goes too, so there is nothing to drain into.
 */
const onOrphaned = (): never => process.exit(1);
process.on('disconnect', onOrphaned);

try {
  await work(JSON.parse(process.env[SETTINGS_VARIABLE] ?? '') as WorkerSettings);
} catch (error) {
  process.stderr.write(`${describe(error)}\n`);
  process.exitCode = 1;
} finally {
  process.off('disconnect', onOrphaned);
  if (process.connected) process.disconnect();
}
