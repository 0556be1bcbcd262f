import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { lowestReaderId } from '@strandline/servers';
import type { Connection } from 'mysql2/promise';
import type { Reader } from '../../readers/reader.js';
import type { Reading, ReaderSettings } from '../../readers/reading.js';
import { passwordOf, serverArguments, taskArguments } from './arguments.js';
import { FLUSH_EVERY } from './flush-every.js';
import { build, debeziumVersion } from './java-project.js';
import { JavaProcess } from './java-process.js';
import { readSightings } from './sightings.js';

/**
 * A transaction of another server, long gone. With an empty set of GTIDs its client of the binlog ends with a
 * NullPointerException, and on a server whose log was emptied there are none yet.
 */
const LONG_GONE = '00000000-0000-0000-0000-000000000001:1';

/** Milliseconds that a reading takes at most. */
const LIMIT = 600_000;

/**
 * Debezium's engine as a reader of MySQL's log, which begins with the file `first`. Null where it can't be had, and then
 * `progress` is told why.
 */
export async function debeziumReader(
  sql: Connection,
  first: string,
  progress: (text: string) => void,
): Promise<Reader | null> {
  const reason = await build(progress);
  if (reason !== null) {
    progress(`Debezium is left out: ${reason}.`);
    return null;
  }
  await sql.query('set global gtid_purged = ?', [`+${LONG_GONE}`]);
  return {
    name: `Debezium engine ${await debeziumVersion()}, outbox event router`,
    read: (settings) => read(settings, first),
  };
}

async function read(settings: ReaderSettings, first: string): Promise<Reading> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'strandline-bench-debezium-'));
  try {
    const task = { kind: 'speed', rows: settings.rows, keys: settings.keys, limit: LIMIT } as const;
    const file = path.join(folder, 'reading');
    const java = new JavaProcess(
      {
        ...serverArguments('mysql', settings.url),
        ...taskArguments(task),
        file,
        log: first,
        executed: LONG_GONE,
        'server.id': String(lowestReaderId + process.pid),
        offsets: path.join(folder, 'offsets'),
        flush: String(FLUSH_EVERY),
      },
      passwordOf(settings.url),
    );
    await java.ended;
    return { ...(await readSightings(file, task)), arrivals: new Float64Array(0), peakMib: NaN };
  } finally {
    await rm(folder, { recursive: true });
  }
}
