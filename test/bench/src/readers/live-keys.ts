import { setTimeout as sleep } from 'node:timers/promises';
import { definePipeline } from 'strandline';
import { DRIVERS } from '../databases/drivers.js';
import { ordinalOf } from '../databases/payload.js';
import { heapMib, residentMib } from './heap.js';
import { offsetsFor, SILENT, type OffsetsSettings } from './pipeline-parts.js';
import type { Reading, ReaderSettings } from './reading.js';
import { ReadingRecord } from './reading-record.js';

const LOOK_EVERY = 50;
/** Rows a second that are admitted at the least: then all keys are live before the first head is tried again. */
const ADMITTED_PER_SECOND = 20_000;
/** On a slower machine the heads wait longer each time, or their retries would take the time that admission needs. */
const LONGEST_DELAY = 16;
const ROOM_PER_ROW = 4_096;

export interface LiveKeysSettings extends ReaderSettings {
  readonly offsets: OffsetsSettings;
}

/** In MiB: before the first row, with every key live, and when all is handled and saved. */
export interface LiveKeysReading extends Reading {
  readonly heap: { readonly before: number; readonly live: number; readonly idle: number };
  readonly resident: { readonly before: number; readonly live: number; readonly idle: number };
  readonly liveKeys: number;
}

/** Every key is live at once: handlers fail, and are tried again only when the whole backlog was admitted. */
export async function readWithLiveKeys(
  settings: LiveKeysSettings,
  ready: () => void,
): Promise<LiveKeysReading> {
  const record = new ReadingRecord(settings);
  const driver = DRIVERS[settings.database];
  const streaming = driver.whenStreaming();
  const delay = Math.ceil((settings.rows * 1_000) / ADMITTED_PER_SECOND);
  let fails = true;
  const before = { heap: heapMib(), resident: residentMib() };
  const pipeline = definePipeline({
    name: settings.reader,
    source: driver.source(settings, 'committed'),
    offsets: offsetsFor(settings.offsets),
    log: SILENT,
    window: { events: settings.rows + 1, bytes: settings.rows * ROOM_PER_ROW },
    retry: { attempts: Infinity, initialDelay: delay, maxDelay: LONGEST_DELAY * delay, jitter: 'none' },
    handle(event) {
      if (fails) throw new Error('not yet');
      record.see(Number(event.key), ordinalOf(event.payloadText ?? ''));
      return Promise.resolve();
    },
  });
  await pipeline.start();
  await Promise.race([streaming, pipeline.finished]);
  record.start();
  ready();
  while (pipeline.status().unsettled < settings.rows) await sleep(LOOK_EVERY);
  fails = false;
  const live = { heap: heapMib(), resident: residentMib(), keys: pipeline.status().strands };
  await Promise.race([record.allSeen, pipeline.finished]);
  while (pipeline.status().unsettled > 0 || pipeline.status().unsaved > 0) await sleep(LOOK_EVERY);
  const idle = { heap: heapMib(), resident: residentMib() };
  await pipeline.stop();
  return {
    ...record.reading(),
    heap: { before: before.heap, live: live.heap, idle: idle.heap },
    resident: { before: before.resident, live: live.resident, idle: idle.resident },
    liveKeys: live.keys,
  };
}
