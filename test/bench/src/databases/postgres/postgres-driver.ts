import { postgres } from 'strandline';
import type { Driver } from '../driver.js';
import { readWithBareLibrary } from './bare-library.js';
import { countQuestions } from './gate-questions.js';
import { PUBLICATION } from './outbox.js';
import { connectWriter } from './postgres-writer.js';

export const postgresDriver: Driver = {
  source: ({ url, reader }, visibility) =>
    postgres({
      url,
      outbox: { table: 'outbox', id: 'id', key: 'key', type: 'type', payload: 'payload' },
      slot: reader,
      publication: PUBLICATION,
      create: false,
      visibility,
    }),
  readBare: readWithBareLibrary,
  // A pipeline has started when it streams.
  whenStreaming: () => Promise.resolve(),
  countQuestions,
  connectWriter,
};
