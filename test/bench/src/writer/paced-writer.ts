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
const CONNECTIONS = 4;

/** Commits one row per transaction, each at its own time, whether or not the one before was late. */
export async function writePaced(settings: WriterSettings): Promise<Writing> {
  const writing = { sent: new Float64Array(settings.rows), returned: new Float64Array(settings.rows) };
  const driver = DRIVERS[settings.database];
  const connections = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => driver.connectWriter(settings.url)),
  );
  const startAt = now();
  await Promise.all(
    connections.map((connection, number) => writeShare(connection, number, startAt, settings, writing)),
  );
  await Promise.all(connections.map((connection) => connection.end()));
  return writing;
}

async function writeShare(
  connection: WriterConnection,
  number: number,
  startAt: number,
  { rows, keys, rowsPerSecond }: WriterSettings,
  { sent, returned }: Writing,
): Promise<void> {
  for (let row = number; row < rows; row += CONNECTIONS) {
    const early = startAt + (row * 1_000) / rowsPerSecond - now();
    if (early > 0.5) await delay(early);
    const key = row % keys;
    const ordinal = Math.floor(row / keys) + 1;
    await connection.insert(key, ordinal, 'text');
    sent[row] = now();
    await connection.commit();
    returned[row] = now();
  }
}
