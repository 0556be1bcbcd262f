import { lowestReaderId } from '@strandline/servers';
import ZongJi, { type WriteRowsEvent } from '@vlasky/zongji';
import type { Reading, ReaderSettings } from '../../readers/reading.js';
import { ReadingRecord } from '../../readers/reading-record.js';
import { ordinalOf } from '../payload.js';

/** Reads the binlog from its start with the bare library and its own decoder. */
export async function readWithBareZongji(settings: ReaderSettings, ready: () => void): Promise<Reading> {
  const record = new ReadingRecord(settings);
  const { hostname, port, username, password, pathname } = new URL(settings.url);
  const zongji = new ZongJi({
    host: hostname,
    port: Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
  });
  const failed = new Promise<never>((_, reject) => zongji.on('error', reject));
  zongji.on('ready', () => {
    record.start();
    ready();
  });
  zongji.on('binlog', (event) => {
    if (event.getEventName() !== 'writerows') return;
    for (const row of (event as WriteRowsEvent).rows) seeRow(record, row);
  });
  zongji.start({
    serverId: lowestReaderId + process.pid,
    includeEvents: ['tablemap', 'writerows'],
    includeSchema: { [decodeURIComponent(pathname.slice(1))]: ['outbox'] },
  });
  await Promise.race([record.allSeen, failed]);
  zongji.stop();
  return record.reading();
}

function seeRow(record: ReadingRecord, row: Readonly<Record<string, unknown>>): void {
  const { key, payload } = row;
  record.see(
    Number(key),
    typeof payload === 'string' ? ordinalOf(payload) : Number((payload as { n: unknown }).n),
  );
}
