import type { Reading, ReaderSettings } from './reading.js';
import type { StrandlineReading } from './strandline.js';

/** One that is compared with others on the same backlog. */
export interface Reader {
  readonly name: string;
  read(settings: ReaderSettings): Promise<Reading | StrandlineReading>;
}
