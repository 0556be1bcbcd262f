import { LogicalReplicationService, PgoutputPlugin, type Pgoutput } from 'pg-logical-replication';
import type { Reading, ReaderSettings } from '../../readers/reading.js';
import { ReadingRecord } from '../../readers/reading-record.js';
import { ordinalOf } from '../payload.js';
import { PUBLICATION } from './outbox.js';

/** Reads a slot with the bare library and its own decoder: no order, no retry, no offset, no acknowledgement. */
export async function readWithBareLibrary(settings: ReaderSettings, ready: () => void): Promise<Reading> {
  const record = new ReadingRecord(settings);
  const service = new LogicalReplicationService(
    { connectionString: settings.url },
    { acknowledge: { auto: false, timeoutSeconds: 0 } },
  );
  service.on('data', (_lsn: string, message: Pgoutput.Message) => {
    if (message.tag === 'insert') seeRow(record, message.new);
  });
  service.on('start', () => {
    record.start();
    ready();
  });
  const plugin = new PgoutputPlugin({ protoVersion: 1, publicationNames: [PUBLICATION] });
  const over = service.subscribe(plugin, settings.reader).then(() => undefined);
  await Promise.race([record.allSeen, over]);
  await service.destroy();
  return record.reading();
}

/** The library parses jsonb by itself, and leaves bigint and text as text. */
function seeRow(record: ReadingRecord, row: Record<string, unknown>): void {
  const { key, payload } = row;
  const ordinal = typeof payload === 'string' ? ordinalOf(payload) : (payload as { n: number }).n;
  record.see(Number(key), ordinal);
}
