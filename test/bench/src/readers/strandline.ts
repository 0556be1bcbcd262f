import { definePipeline, type OutboxEvent, type Pipeline } from 'strandline';
import { DRIVERS } from '../databases/drivers.js';
import { ordinalOf } from '../databases/payload.js';
import { MemorySampler, type MemoryUse } from './memory-sampler.js';
import { offsetsFor, QUIET, type OffsetsSettings } from './pipeline-parts.js';
import type { Reading, ReaderSettings } from './reading.js';
import { ReadingRecord } from './reading-record.js';

/**
 * - `async`: returns a resolved promise, as an async function without an await does.
 * - `plain`: returns nothing, so a turn needs no promise.
 * - `batch`: takes up to 100 consecutive events of its key.
 * - `payload`: `async`, and has the payload parsed.
 */
export type HandlerKind = 'async' | 'plain' | 'batch' | 'payload';

export interface StrandlineSettings extends ReaderSettings {
  readonly offsets: OffsetsSettings;
  readonly handler: HandlerKind;
  readonly visibility: 'committed' | 'logged';
  /** The handlers of the `untimed` keys sleep until all others are done. */
  readonly sleep?: boolean;
}

export interface StrandlineReading extends Reading {
  /** How often the visibility gate asked the server for a snapshot. */
  readonly questions: number;
  readonly memory: MemoryUse;
}

/** Reads a backlog with a whole pipeline, as a user would define it. */
export async function readWithStrandline(
  settings: StrandlineSettings,
  ready: () => void,
): Promise<StrandlineReading> {
  const record = new ReadingRecord(settings);
  const driver = DRIVERS[settings.database];
  const questions = driver.countQuestions();
  const streaming = driver.whenStreaming();
  const pipeline = pipelineFor(settings, record);
  const memory = new MemorySampler(() => record.seen);
  await pipeline.start();
  await Promise.race([streaming, pipeline.finished]);
  record.start();
  ready();
  await Promise.race([record.allSeen, pipeline.finished]);
  memory.stop();
  await pipeline.stop();
  return { ...record.reading(), questions: questions(), memory: memory.use() };
}

function pipelineFor(settings: StrandlineSettings, record: ReadingRecord): Pipeline {
  const common = {
    name: settings.reader,
    source: DRIVERS[settings.database].source(settings, settings.visibility),
    offsets: offsetsFor(settings.offsets),
    log: QUIET,
  };
  const see = (event: OutboxEvent): void => {
    record.see(Number(event.key), ordinalOf(event.payloadText ?? ''));
  };
  if (settings.handler === 'batch') {
    return definePipeline({
      ...common,
      batch: { max: 100 },
      handle(events: readonly OutboxEvent[]) {
        for (const event of events) see(event);
        return Promise.resolve();
      },
    });
  }
  return definePipeline({ ...common, handle: singleHandler(settings, record, see) });
}

function singleHandler(
  { handler, sleep, untimed }: StrandlineSettings,
  record: ReadingRecord,
  see: (event: OutboxEvent) => void,
): (event: OutboxEvent) => unknown {
  if (sleep === true) {
    const sleepers = new Set(untimed?.keys.map(String));
    return (event) => {
      if (sleepers.has(event.key)) {
        return record.timedSeen.then(() => {
          see(event);
        });
      }
      see(event);
      return Promise.resolve();
    };
  }
  switch (handler) {
    case 'plain':
      return see;
    case 'payload':
      return (event) => {
        record.see(Number(event.key), (event.payload as { n: number }).n);
        return Promise.resolve();
      };
    default:
      return (event) => {
        see(event);
        return Promise.resolve();
      };
  }
}
