import { definePipeline } from 'strandline';
import { DRIVERS } from '../databases/drivers.js';
import { ordinalOf } from '../databases/payload.js';
import { HandledFile } from './handled-file.js';
import { offsetsFor, QUIET, type OffsetsSettings } from './pipeline-parts.js';
import type { ReaderSettings } from './reading.js';

export interface NotingSettings extends ReaderSettings {
  readonly offsets: OffsetsSettings;
  /** The file for what it handles. */
  readonly notes: string;
}

/** A pipeline as a supervisor runs it: until somebody ends its process. */
export async function readNoting(settings: NotingSettings, ready: () => void): Promise<void> {
  const file = new HandledFile(settings.notes);
  const pipeline = definePipeline({
    name: settings.reader,
    source: DRIVERS[settings.database].source(settings, 'committed'),
    offsets: offsetsFor(settings.offsets),
    log: QUIET,
    handle(event) {
      file.note(Number(event.key), ordinalOf(event.payloadText ?? ''));
      return Promise.resolve();
    },
  });
  await pipeline.start();
  ready();
  await pipeline.finished;
}
