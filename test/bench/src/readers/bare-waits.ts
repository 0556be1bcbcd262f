import { stagedRows } from '../databases/staged-rows.js';
import type { Reading, ReaderSettings } from './reading.js';
import { now } from './reading.js';
import { ReadingRecord } from './reading-record.js';
import { Waits, type WaitSettings } from './waits.js';

const ROWS_AT_ONCE = 1_000;

export interface BareWaitsSettings extends ReaderSettings {
  readonly wait: WaitSettings;
  readonly concurrency: number;
}

/**
 * What waiting alone takes: as many waits as there are rows, so many at once, and nothing else. The rows are made up
 * here, not read from the log, and noted as any reader notes them.
 */
export async function waitOnly(settings: BareWaitsSettings, ready: () => void): Promise<Reading> {
  const record = new ReadingRecord(settings);
  const waits = new Waits(settings.wait);
  const rows = everyRow(settings);
  record.start();
  ready();
  await Promise.all(
    Array.from({ length: settings.concurrency }, async () => {
      for (let row = rows.next(); row.done !== true; row = rows.next()) {
        record.see(row.value.key, row.value.ordinal);
        await waits.next();
      }
    }),
  );
  return { ...record.reading(), endedAt: now() };
}

function* everyRow(settings: BareWaitsSettings): Generator<{ key: number; ordinal: number }> {
  for (const { keys, ordinals } of stagedRows(settings.rows, settings, ROWS_AT_ONCE))
    for (const [index, key] of keys.entries()) yield { key, ordinal: ordinals[index] ?? 0 };
}
