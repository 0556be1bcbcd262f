import path from 'node:path';
import { startPostgres } from '@strandline/servers';
import type { DemoArguments } from './args.js';
import { openPool } from './database.js';
import { OffsetsPlace } from './offsets.js';
import { isKept, readReport, toJson } from './report.js';
import { createRunDirectory } from './run-directory.js';
import { SCHEMA } from './shop.js';
import { perform } from './stage.js';
import { stayUp } from './stay-up.js';
import { StrandlineUnderFire } from './strandline.js';
import { nextCommands, playground, summaryOf } from './summary.js';
import type { View } from './view.js';

const LOG_FILE = 'strandline.log';

/** Runs the demo from an empty server to the verdict; resolves with the exit code. Leaves nothing behind. */
export async function runDemo(args: DemoArguments, view: View, interrupt: AbortSignal): Promise<number> {
  await using directory = await createRunDirectory();
  view.say('Starting a Postgres of its own …');
  // From npm even where a Docker engine answers: pulling an image can take longer than the whole demo.
  await using server = await startPostgres({ origin: 'local' });
  interrupt.throwIfAborted();
  const url = await server.createDatabase('shop');
  await using pool = openPool(url, 'demo', 2);
  await pool.query(SCHEMA);

  const pipeline = ['shop', process.pid, Date.now()].join('-');
  await using offsets = new OffsetsPlace(pipeline, process.env['REDIS_URL'], directory.path);
  const log = path.join(directory.path, LOG_FILE);
  view.say(`Starting Strandline; it keeps its offset in ${offsets.name} …`);
  await using strandline = new StrandlineUnderFire(
    { url, pipeline, redisUrl: offsets.redisUrl, offsetsDirectory: offsets.directory },
    log,
  );
  await strandline.start(interrupt);

  const shown = await perform({ url, pool, seconds: args.seconds, view, strandline }, interrupt);
  const report = await readReport(pool, shown);
  view.say(summaryOf(report, view.ink));
  view.say(nextCommands(view.ink));
  if (args.json) process.stdout.write(`${toJson(report)}\n`);
  if (args.keep) {
    await strandline.start(interrupt);
    view.say(playground({ url, offsets: offsets.name, log }, view.ink));
    await stayUp(pool, view, AbortSignal.any([interrupt, strandline.failed]));
  }
  return isKept(report) ? 0 : 1;
}
