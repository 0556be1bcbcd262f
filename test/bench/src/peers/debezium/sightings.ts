import { readFile } from 'node:fs/promises';
import { ReadingRecord } from '../../readers/reading-record.js';
import type { PeerReading } from '../peer.js';

// The file of SpeedHandler.java: three moments or amounts in nanoseconds, then a key and an ordinal for each call.
const STARTED_AT = 0;
const ENDED_AT = 8;
const CPU = 16;
const HEAD = 24;
const CALL = 8;
const NANOS_A_MILLISECOND = 1e6;

/** Judges what the program noted. It has no opinion of its own. */
export async function readSightings(
  file: string,
  settings: { readonly rows: number; readonly keys: number },
): Promise<PeerReading> {
  const bytes = await readFile(file);
  const record = new ReadingRecord({ ...settings, database: 'postgres', url: '', reader: '' });
  for (let at = HEAD; at < bytes.length; at += CALL)
    record.see(bytes.readInt32LE(at), bytes.readInt32LE(at + 4));
  const { seen, lastOrdinals, faults } = record.reading();
  const milliseconds = (at: number): number => Number(bytes.readBigInt64LE(at)) / NANOS_A_MILLISECOND;
  return {
    startedAt: milliseconds(STARTED_AT),
    endedAt: milliseconds(ENDED_AT),
    cpu: milliseconds(CPU),
    seen,
    lastOrdinals,
    faults,
  };
}
