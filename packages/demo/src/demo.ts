import path from 'node:path';
import { startPostgres } from '@strandline/servers';
import type { DemoArguments } from './args.js';
import { openPool } from './database.js';
import { describeOffsets, forgetOffsets, type OffsetsPlace } from './offsets.js';
import { isKept, readReport, toJson } from './report.js';
import { createRunDirectory } from './run-directory.js';
import { SCHEMA } from './shop.js';
import { perform } from './stage.js';
import { StrandlineUnderFire } from './strandline.js';
import { nextCommands, playground, summaryOf } from './summary.js';
import { stayUp } from './stay-up.js';
import type { View } from './view.js';

const LOG_FILE = 'strandline.log';

/** Runs the demo from an empty server to the verdict; resolves with the exit code. Leaves nothing behind. */
export async function runDemo(args: DemoArguments, view: View, interrupt: AbortSignal): Promise<number> {
  await using directory = await createRunDirectory();
  view.say('Starting a Postgres of its own …');
  await using server = await startPostgres({ exclusive: true });
  interrupt.throwIfAborted();
  const url = await server.createDatabase('shop');
  const pool = openPool(url, 'demo', 2);
  await using _pool = { [Symbol.asyncDispose]: () => pool.end() };
  await pool.query(SCHEMA);

  const pipeline = `shop-${process.pid}-${Date.now()}`;
  const offsets: OffsetsPlace = {
    redisUrl: process.env['REDIS_URL'] || null,
    directory: path.join(directory.path, 'offsets'),
  };
  await using _offsets = { [Symbol.asyncDispose]: () => forgetOffsets(offsets, pipeline) };
  const log = path.join(directory.path, LOG_FILE);
  view.say(`Starting Strandline; it keeps its offset in ${describeOffsets(offsets)} …`);
  await using strandline = new StrandlineUnderFire(
    { url, pipeline, redisUrl: offsets.redisUrl, offsetsDirectory: offsets.directory },
    log,
  );
  await strandline.start(interrupt);

  const shown = await perform({ url, pool, seconds: args.seconds, view, strandline }, interrupt);
  const report = await readReport(pool, shown);
  view.say(summaryOf(report, view.ink));
  view.say(nextCommands(view.ink));
  if (args.json) console.log(toJson(report));
  if (args.keep) {
    await strandline.start(interrupt);
    view.say(playground({ url, offsets: describeOffsets(offsets), log }, view.ink));
    await stayUp(pool, view, AbortSignal.any([interrupt, strandline.failed]));
  }
  return isKept(report) ? 0 : 1;
}
