import { setTimeout as sleep } from 'node:timers/promises';
import { definePipeline, PermanentError, type OutboxEvent } from 'strandline';
import { DRIVERS } from '../databases/drivers.js';
import { ordinalOf } from '../databases/payload.js';
import { lettersAt, offsetsFor, SILENT, type OffsetsSettings } from './pipeline-parts.js';
import type { Reading, ReaderSettings } from './reading.js';
import { ReadingRecord } from './reading-record.js';

/** Milliseconds between looks whether all is stored, after the clock has stopped. */
const LOOK_EVERY = 20;

export interface FailingSettings extends ReaderSettings {
  readonly offsets: OffsetsSettings;
  /** The handlers of the `untimed` keys fail, and no retry helps. */
  readonly fail: boolean;
}

/** Reads a backlog while some keys are parked: their rows are seen where they wait, in the dead-letter table. */
export async function readWithFailures(settings: FailingSettings, ready: () => void): Promise<Reading> {
  const record = new ReadingRecord(settings);
  const driver = DRIVERS[settings.database];
  const streaming = driver.whenStreaming();
  const failing = new Set(settings.fail ? settings.untimed?.keys.map(String) : []);
  const see = (event: OutboxEvent): void => {
    record.see(Number(event.key), ordinalOf(event.payloadText ?? ''));
  };
  const pipeline = definePipeline({
    name: settings.reader,
    source: driver.source(settings, 'committed'),
    offsets: offsetsFor(settings.offsets),
    deadLetters: lettersAt(settings.url),
    log: SILENT,
    handle(event) {
      if (failing.has(event.key)) throw new PermanentError('this key fails for ever');
      see(event);
      return Promise.resolve();
    },
  });
  await pipeline.start();
  await Promise.race([streaming, pipeline.finished]);
  record.start();
  ready();
  await Promise.race([record.timedSeen, pipeline.finished]);
  // What is admitted and not stored waits for the table.
  while (pipeline.status().settled < settings.rows) await sleep(LOOK_EVERY);
  for await (const { event } of pipeline.deadLetters?.export({ state: 'waiting' }) ?? []) see(event);
  await pipeline.stop();
  return record.reading();
}
