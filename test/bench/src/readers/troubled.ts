import { setTimeout as sleep } from 'node:timers/promises';
import { definePipeline, PermanentError, type OutboxEvent, type Pipeline } from 'strandline';
import { DRIVERS } from '../databases/drivers.js';
import { ordinalOf } from '../databases/payload.js';
import { lettersAt, offsetsFor, SILENT, type OffsetsSettings } from './pipeline-parts.js';
import type { Reading, ReaderSettings } from './reading.js';
import { ReadingRecord } from './reading-record.js';

/** Milliseconds between looks whether all is stored, after the clock has stopped. */
const LOOK_EVERY = 20;
/** Milliseconds until a head that has failed is tried again. */
const BACKOFF = 2_000;

/**
 * What the `untimed` keys do until all others are done.
 *
 * - `nothing`: they are handled like the others.
 * - `stuck`: their handlers do not end.
 * - `backoff`: their handlers fail, and are tried again after two seconds.
 * - `parked`: their handlers fail for good, and what follows waits beside the outbox.
 */
export type Trouble = 'nothing' | 'stuck' | 'backoff' | 'parked';

export interface TroubledSettings extends ReaderSettings {
  readonly offsets: OffsetsSettings;
  readonly trouble: Trouble;
}

/** Reads a backlog while some keys are in trouble; in the end their rows are seen as well, in order. */
export async function readWithTrouble(settings: TroubledSettings, ready: () => void): Promise<Reading> {
  const record = new ReadingRecord(settings);
  const streaming = DRIVERS[settings.database].whenStreaming();
  const see = (event: OutboxEvent): void => {
    record.see(Number(event.key), ordinalOf(event.payloadText ?? ''));
  };
  const pipeline = pipelineFor(settings, record, see);
  await pipeline.start();
  await Promise.race([streaming, pipeline.finished]);
  record.start();
  ready();
  await Promise.race([record.timedSeen, pipeline.finished]);
  // What is parked is admitted and waits for the table.
  if (settings.trouble === 'parked') {
    while (pipeline.status().settled < settings.rows) await sleep(LOOK_EVERY);
    for await (const { event } of pipeline.deadLetters?.export({ state: 'waiting' }) ?? []) see(event);
  }
  await Promise.race([record.allSeen, pipeline.finished]);
  await pipeline.stop();
  return record.reading();
}

function pipelineFor(
  settings: TroubledSettings,
  record: ReadingRecord,
  see: (event: OutboxEvent) => void,
): Pipeline {
  const troubled = new Set(settings.untimed?.keys.map(String));
  let othersDone = false;
  void record.timedSeen.then(() => (othersDone = true));
  const handlers: Readonly<Record<Trouble, (event: OutboxEvent) => Promise<void>>> = {
    nothing(event) {
      see(event);
      return Promise.resolve();
    },
    stuck(event) {
      if (troubled.has(event.key))
        return record.timedSeen.then(() => {
          see(event);
        });
      see(event);
      return Promise.resolve();
    },
    backoff(event) {
      if (!othersDone && troubled.has(event.key)) throw new Error('not yet');
      see(event);
      return Promise.resolve();
    },
    parked(event) {
      if (troubled.has(event.key)) throw new PermanentError('this key fails for ever');
      see(event);
      return Promise.resolve();
    },
  };
  return definePipeline({
    name: settings.reader,
    source: DRIVERS[settings.database].source(settings, 'committed'),
    offsets: offsetsFor(settings.offsets),
    deadLetters: lettersAt(settings.url),
    retry: { attempts: Infinity, initialDelay: BACKOFF, maxDelay: BACKOFF, jitter: 'none' },
    log: SILENT,
    handle: handlers[settings.trouble],
  });
}
