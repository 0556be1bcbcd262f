import type { Source } from 'strandline';
import type { Reading, ReaderSettings } from '../readers/reading.js';
import type { PayloadType } from './payload.js';

/** What a measuring process does with a database. */
export interface Driver {
  /** Strandline's source, beginning before the backlog's first row. */
  source(settings: ReaderSettings, visibility: 'committed' | 'logged'): Source;
  /** Reads with the library below that source and its own decoder: no order, no retry, no offset. */
  readBare(settings: ReaderSettings, ready: () => void): Promise<Reading>;
  /** Called before a pipeline starts: resolves when its reader has connected and the server begins to stream. */
  whenStreaming(): Promise<void>;
  /** Counts from now on how often the visibility gate asks the server. */
  countQuestions(): () => number;
  connectWriter(url: string): Promise<WriterConnection>;
}

export interface WriterConnection {
  /** Begins a transaction and inserts its one row, in one round trip. */
  insert(key: number, ordinal: number, payload: PayloadType): Promise<void>;
  commit(): Promise<void>;
  end(): Promise<void>;
}
