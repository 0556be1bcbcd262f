import { definePipeline, type OutboxEvent, type Pipeline } from 'strandline';
import { DRIVERS } from '../databases/drivers.js';
import { ordinalOf } from '../databases/payload.js';
import { InFlight } from './in-flight.js';
import { MemorySampler, type MemoryUse } from './memory-sampler.js';
import { offsetsFor, QUIET, type OffsetsSettings } from './pipeline-parts.js';
import type { Reading, ReaderSettings } from './reading.js';
import { ReadingRecord } from './reading-record.js';
import { observe, type Observed } from './observing.js';
import { Waits, type WaitSettings } from './waits.js';

/**
 * - `async`: returns a resolved promise, as an async function without an await does.
 * - `plain`: returns nothing, so a turn needs no promise.
 * - `batch`: takes up to 100 consecutive events of its key.
 * - `payload`: `async`, and has the payload parsed.
 * - `waiting`: takes the time that `wait` says.
 */
export type HandlerKind = 'async' | 'plain' | 'batch' | 'payload' | 'waiting';

export interface StrandlineSettings extends ReaderSettings {
  readonly offsets: OffsetsSettings;
  readonly handler: HandlerKind;
  readonly visibility: 'committed' | 'logged';
  /** Default: Strandline's own. */
  readonly concurrency?: number;
  /** Of `waiting` handlers. */
  readonly wait?: WaitSettings;
  /** Who listens. Default: nobody. */
  readonly observed?: Observed;
}

export interface StrandlineReading extends Reading {
  /** How often the visibility gate asked the server for a snapshot. */
  readonly questions: number;
  readonly memory: MemoryUse;
  /** How long `waiting` handlers really waited, in milliseconds on average; NaN without. */
  readonly measuredWait: number;
}

/** Reads a backlog with a whole pipeline, as a user would define it. */
export async function readWithStrandline(
  settings: StrandlineSettings,
  ready: () => void,
): Promise<StrandlineReading> {
  const record = new ReadingRecord(settings);
  const inFlight = new InFlight(settings.keys);
  const waits = new Waits(settings.wait ?? { mean: 0, jitter: 0 });
  const driver = DRIVERS[settings.database];
  const questions = driver.countQuestions();
  const streaming = driver.whenStreaming();
  const pipeline = pipelineFor(settings, record, inFlight, waits);
  const end = await observe(pipeline, settings.observed);
  const memory = new MemorySampler(() => record.seen);
  await pipeline.start();
  await Promise.race([streaming, pipeline.finished]);
  record.start();
  ready();
  await Promise.race([record.allSeen, pipeline.finished]);
  memory.stop();
  await pipeline.stop();
  end();
  const reading = record.reading();
  return {
    ...reading,
    faults: [...reading.faults, ...inFlight.faults],
    questions: questions(),
    memory: memory.use(),
    measuredWait: waits.measuredMean,
  };
}

function pipelineFor(
  settings: StrandlineSettings,
  record: ReadingRecord,
  inFlight: InFlight,
  waits: Waits,
): Pipeline {
  const common = {
    name: settings.reader,
    source: DRIVERS[settings.database].source(settings, settings.visibility),
    offsets: offsetsFor(settings.offsets),
    log: QUIET,
    ...(settings.concurrency === undefined ? {} : { concurrency: settings.concurrency }),
  };
  const see = (event: OutboxEvent): void => {
    record.see(Number(event.key), ordinalOf(event.payloadText ?? ''));
  };
  switch (settings.handler) {
    case 'async':
      return definePipeline({
        ...common,
        handle(event) {
          see(event);
          return Promise.resolve();
        },
      });
    case 'plain':
      return definePipeline({ ...common, handle: see });
    case 'batch':
      return definePipeline({
        ...common,
        batch: { max: 100 },
        handle(events: readonly OutboxEvent[]) {
          for (const event of events) see(event);
          return Promise.resolve();
        },
      });
    case 'payload':
      return definePipeline({
        ...common,
        handle(event) {
          record.see(Number(event.key), (event.payload as { n: number }).n);
          return Promise.resolve();
        },
      });
    case 'waiting':
      return definePipeline({
        ...common,
        async handle(event) {
          const key = Number(event.key);
          inFlight.begin(key);
          await waits.next();
          inFlight.end(key);
          see(event);
        },
      });
  }
}
