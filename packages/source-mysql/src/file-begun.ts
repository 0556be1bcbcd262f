import type { ConnectionOptions } from 'mysql2';
import { BinlogConnection } from './binlog-connection.js';

/** Milliseconds. The server begins a dump with this event at once. */
const HEARTBEAT = 1_000;

/** When a file of the log was begun, Unix seconds. Only the file itself tells. */
export async function readBegun(
  options: ConnectionOptions,
  serverId: number,
  file: string,
  silenceTimeout: number,
): Promise<number> {
  let begun: number | null = null;
  return new Promise<number>((resolve, reject) => {
    const connection = new BinlogConnection(options, {
      event: (event) => {
        if (event.getTypeName() !== 'Format') return;
        begun = event.timestamp / 1_000;
        connection.close();
      },
      raw: () => undefined,
      ended: (error) => {
        if (begun !== null) resolve(begun);
        else reject(error instanceof Error ? error : new Error(String(error)));
      },
    });
    const place = { executed: null, file, offset: 4, schema: '', table: '' };
    // Its failure is told by `ended` as well.
    connection.start({ serverId, ...place, heartbeat: HEARTBEAT, silenceTimeout }).catch(() => undefined);
  });
}

/** Unix seconds, for people. */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}
