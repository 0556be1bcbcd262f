import path from 'node:path';
import type { DemoArguments } from './args.js';
import { KINDS } from './database/kinds.js';
import { OffsetsPlace } from './offsets.js';
import { isKept, readReport, toJson } from './report.js';
import { createRunDirectory } from './run-directory.js';
import { startShopServer } from './server.js';
import { perform } from './stage.js';
import { stayUp } from './stay-up.js';
import { StrandlineUnderFire } from './strandline.js';
import { nextCommands, playground, summaryOf } from './summary.js';
import type { View } from './view.js';

const LOG_FILE = 'strandline.log';

/** Runs the demo from an empty server to the verdict; resolves with the exit code. Leaves nothing behind. */
export async function runDemo(args: DemoArguments, view: View, interrupt: AbortSignal): Promise<number> {
  await using directory = await createRunDirectory();
  const kind = KINDS[args.database];
  await using server = await startShopServer(args.database, view);
  interrupt.throwIfAborted();
  const url = await server.createDatabase('shop');
  const open = kind.open.bind(kind, url);
  await using shop = open('demo', 2);
  await shop.createTables();

  const pipeline = ['shop', process.pid, Date.now()].join('-');
  await using offsets = new OffsetsPlace(pipeline, process.env['REDIS_URL'], directory.path);
  const log = path.join(directory.path, LOG_FILE);
  view.say(`Starting Strandline; it keeps its offset in ${offsets.name} …`);
  await using strandline = new StrandlineUnderFire(
    {
      database: args.database,
      url,
      pipeline,
      redisUrl: offsets.redisUrl,
      offsetsDirectory: offsets.directory,
    },
    log,
  );
  await strandline.start(interrupt);

  const shown = await perform({ open, shop, seconds: args.seconds, view, strandline }, interrupt);
  const report = await readReport(shop, shown);
  view.say(summaryOf(report, view.ink));
  view.say(nextCommands(view.ink));
  if (args.json) process.stdout.write(`${toJson(report)}\n`);
  if (args.keep) {
    await strandline.start(interrupt, true);
    const consoleUrl = strandline.status?.console ?? null;
    view.say(playground({ kind, url, consoleUrl, offsets: offsets.name, log }, view.ink));
    await stayUp(open, AbortSignal.any([interrupt, strandline.failed]));
  }
  return isKept(report) ? 0 : 1;
}
