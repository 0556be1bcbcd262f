import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { payloadSql } from '../backlog/outbox.js';
import { now } from '../readers/reading.js';

export interface WriterSettings {
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
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const client = new pg.Client({ connectionString: settings.url });
      await client.connect();
      return client;
    }),
  );
  const startAt = now();
  await Promise.all(clients.map((client, number) => writeShare(client, number, startAt, settings, writing)));
  await Promise.all(clients.map((client) => client.end()));
  return writing;
}

async function writeShare(
  client: pg.Client,
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
    await client.query(
      `begin; insert into outbox (key, type, payload) values (${String(key)}, 'order.moved', ${payloadSql(String(ordinal), 'text')})`,
    );
    sent[row] = now();
    await client.query('commit');
    returned[row] = now();
  }
}
