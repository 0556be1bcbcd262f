import { setTimeout as delay } from 'node:timers/promises';
import type { WriterConnection } from '../databases/driver.js';
import { DRIVERS } from '../databases/drivers.js';
import type { DatabaseName } from '../databases/names.js';
import { now } from '../readers/reading.js';

export interface WriterSettings {
  readonly database: DatabaseName;
  readonly url: string;
  readonly rows: number;
  readonly keys: number;
  readonly rowsPerSecond: number;
}

/** Moments of the monotonic clock by row number. A row's number is (ordinal - 1) * keys + key. */
export interface Writing {
  /** Right before COMMIT was sent. */
  readonly sent: Float64Array;
  /** Right after its answer came. */
  readonly returned: Float64Array;
}

/** One would have to keep a round trip below a millisecond; each has its own keys, or their order would be open. */
const FEWEST_CONNECTIONS = 4;
const MOST_CONNECTIONS = 32;
/** What one connection commits with ease while others do, too. */
const ROWS_A_CONNECTION = 250;
/** A timer is late by about as much: what is due sooner is written at once. In milliseconds. */
const TIMER = 0.5;

/** Commits one row per transaction, each at its own time, whether or not the one before was late. */
export async function writePaced(settings: WriterSettings): Promise<Writing> {
  const writing = { sent: new Float64Array(settings.rows), returned: new Float64Array(settings.rows) };
  const driver = DRIVERS[settings.database];
  const connections = await Promise.all(
    Array.from({ length: connectionsFor(settings) }, () => driver.connectWriter(settings.url)),
  );
  const startAt = now();
  await Promise.all(
    connections.map((connection, number) =>
      writeShare(connection, { number, of: connections.length, startAt }, settings, writing),
    ),
  );
  await Promise.all(connections.map((connection) => connection.end()));
  return writing;
}

interface Share {
  readonly number: number;
  /** How many connections there are. */
  readonly of: number;
  readonly startAt: number;
}

/** A power of two: they have to divide the keys among each other. */
function connectionsFor({ rowsPerSecond }: WriterSettings): number {
  const wanted = 2 ** Math.ceil(Math.log2(rowsPerSecond / ROWS_A_CONNECTION));
  return Math.min(MOST_CONNECTIONS, Math.max(FEWEST_CONNECTIONS, wanted));
}

async function writeShare(
  connection: WriterConnection,
  { number, of, startAt }: Share,
  { rows, keys, rowsPerSecond }: WriterSettings,
  { sent, returned }: Writing,
): Promise<void> {
  for (let row = number; row < rows; row += of) {
    const early = startAt + (row * 1_000) / rowsPerSecond - now();
    if (early > TIMER) await delay(early);
    const key = row % keys;
    const ordinal = Math.floor(row / keys) + 1;
    await connection.insert(key, ordinal, 'text');
    sent[row] = now();
    await connection.commit();
    returned[row] = now();
  }
}
