import { setTimeout as sleep } from 'node:timers/promises';
import { definePipeline, PermanentError } from 'strandline';
import { DRIVERS } from '../databases/drivers.js';
import { ordinalOf } from '../databases/payload.js';
import { MemorySampler, type MemoryUse } from './memory-sampler.js';
import { lettersAt, offsetsFor, SILENT, type OffsetsSettings } from './pipeline-parts.js';
import { now, type Reading, type ReaderSettings } from './reading.js';
import { ReadingRecord } from './reading-record.js';

/** Milliseconds between looks whether all is stored, or live again. */
const LOOK_EVERY = 5;

export interface ReleasingSettings extends ReaderSettings {
  readonly offsets: OffsetsSettings;
}

/** One key is parked with all that follows, and then released: what was seen is what was released. */
export interface ReleasingReading extends Reading {
  /** From the first row of the log until all were stored, in milliseconds. */
  readonly parking: number;
  /** From the release until the key was live again, in milliseconds. */
  readonly releasing: number;
  readonly whileParking: MemoryUse;
  readonly whileReleasing: MemoryUse;
}

export async function readAndRelease(
  settings: ReleasingSettings,
  ready: () => void,
): Promise<ReleasingReading> {
  const record = new ReadingRecord(settings);
  const driver = DRIVERS[settings.database];
  const streaming = driver.whenStreaming();
  let fails = true;
  const pipeline = definePipeline({
    name: settings.reader,
    source: driver.source(settings, 'committed'),
    offsets: offsetsFor(settings.offsets),
    deadLetters: lettersAt(settings.url),
    parking: { limits: { perKey: settings.rows, inAll: settings.rows } },
    log: SILENT,
    handle(event) {
      if (fails) throw new PermanentError('not yet');
      record.see(Number(event.key), ordinalOf(event.payloadText ?? ''));
      return Promise.resolve();
    },
  });
  const parked = new MemorySampler(() => pipeline.status().settled);
  await pipeline.start();
  await Promise.race([streaming, pipeline.finished]);
  record.start();
  ready();
  const begun = now();
  while (pipeline.status().settled < settings.rows) await sleep(LOOK_EVERY);
  const stored = now();
  parked.stop();
  fails = false;
  const released = new MemorySampler(() => record.seen);
  await pipeline.deadLetters?.retry();
  while (pipeline.status().parked > 0) await sleep(LOOK_EVERY);
  const live = now();
  released.stop();
  await pipeline.stop();
  return {
    ...record.reading(),
    ...{ parking: stored - begun, releasing: live - stored },
    ...{ whileParking: parked.use(), whileReleasing: released.use() },
  };
}
