import {
  deadLetters,
  definePipeline,
  fileOffsets,
  redisOffsets,
  type OffsetStore,
  type StrandlineError,
} from 'strandline';
import { historyWriter } from './history-file.js';
import {
  optionsVariable,
  runOfTerm,
  type FromProcess,
  type OffsetsChoice,
  type PipelineProcessOptions,
  type ToProcess,
} from './pipeline-process-protocol.js';
import { PlantedClock } from './planted-clock.js';
import { PlantedDisk } from './planted-disk.js';
import { PlantedKill } from './planted-kill.js';
import { ScriptedHandler } from './scripted-handler.js';
import { sourceOf } from './source-choice.js';

/** The process that tests kill: a pipeline as a user would write it, whose handler writes down what it does. */
const options = JSON.parse(process.env[optionsVariable] ?? '') as PipelineProcessOptions;
const clock = new PlantedClock();
const disk = options.offsets.kind === 'file' ? new PlantedDisk(options.offsets.directory) : null;
const write = historyWriter(options.history);
const handler = new ScriptedHandler(
  (entry) => {
    write({ ...entry, at: clock.right() });
  },
  options.behaviour,
  options.terms === true ? () => runOfTerm(options.run, pipeline.status().epoch ?? 0) : options.run,
);
const kill = new PlantedKill(options.killAt ?? null);
/** Milliseconds after which a process whose pipeline has ended says what keeps it from ending. */
const HANGS_AFTER = 10_000;
let mostUnsettled = 0;
let mostBytes = 0;

function observe(): void {
  const { unsettled, bytes } = pipeline.status();
  mostUnsettled = Math.max(mostUnsettled, unsettled);
  mostBytes = Math.max(mostBytes, bytes);
}

/** Its drivers of both databases are loaded where they are used: hundreds of these processes are started. */
const counting =
  options.effects === undefined
    ? null
    : (await import('./effect-counters.js')).countingHandler(options.effects, handler.handle);
const handle = counting?.handle ?? handler.handle;

const pipeline = definePipeline({
  name: options.name,
  source: sourceOf(options.source),
  offsets: offsetStore(options.offsets),
  ...options.tuning,
  ...(options.letters === undefined
    ? {}
    : { deadLetters: await kill.watching(deadLetters(options.letters)) }),
  handle: (event, ctx) => {
    observe();
    return handle(event, ctx);
  },
});

// A test that ends, however it ends, closes the channel: no process of it stays behind.
process.on('disconnect', () => process.exit(1));
process.on('SIGTERM', () => void pipeline.stop());
process.on('message', (message: ToProcess) => {
  switch (message.type) {
    case 'report':
      send({
        type: 'report',
        id: message.id,
        report: {
          status: pipeline.status(),
          mostUnsettled,
          mostBytes,
          rss: process.memoryUsage.rss(),
          mostRss: process.resourceUsage().maxRSS * 1024,
          statements: kill.counted,
        },
      });
      break;
    case 'release':
      handler.release(message.key);
      break;
    case 'step':
      handler.step(message.key);
      break;
    case 'break':
      handler.break(message.payloads);
      break;
    case 'plant':
      kill.plant(message.point);
      break;
    case 'clock':
      clock.set(message.milliseconds);
      break;
    case 'disk':
      disk?.fill(message.full);
      break;
    case 'stop':
      void pipeline.stop();
      break;
  }
});

try {
  await pipeline.start();
  send({ type: 'started' });
  await pipeline.finished;
  await counting?.end();
  end(null);
} catch (error) {
  await counting?.end();
  end(error);
}

function offsetStore(choice: OffsetsChoice): OffsetStore {
  if (choice.kind === 'file') return fileOffsets({ directory: choice.directory });
  const { url, keyPrefix, commandTimeout } = choice;
  return redisOffsets({ url, keyPrefix, ...(commandTimeout === undefined ? {} : { commandTimeout }) });
}

function send(message: FromProcess): void {
  process.send?.(message);
}

/** Ends by itself: a pipeline that leaves a timer or socket behind would be seen to hang here. */
function end(error: unknown): void {
  send({ type: 'ended', error: error === null ? null : described(error) });
  process.exitCode = error === null ? 0 : 1;
  // It no longer holds the process, and still tells when the test has gone.
  process.channel?.unref();
  setTimeout(() => {
    process.stderr.write(`held by ${process.getActiveResourcesInfo().join(', ')}\n`);
  }, HANGS_AFTER).unref();
}

function described(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Error)) return { code: 'UNKNOWN', message: 'not an Error' };
  const { code } = error as Partial<StrandlineError>;
  return { code: code ?? 'UNKNOWN', message: error.message };
}
