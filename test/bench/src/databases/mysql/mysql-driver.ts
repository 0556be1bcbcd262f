import { mysql } from 'strandline';
import type { Driver } from '../driver.js';
import { readWithBareZongji } from './bare-zongji.js';
import { countQuestions } from './gate-questions.js';
import { connectWriter } from './mysql-writer.js';
import { whenStreaming } from './when-streaming.js';

export const mysqlDriver: Driver = {
  source: ({ url }, visibility) =>
    mysql({
      url,
      outbox: { table: 'outbox', id: 'id', key: 'key', type: 'type', payload: 'payload' },
      start: 'earliest',
      visibility,
    }),
  readBare: readWithBareZongji,
  whenStreaming,
  countQuestions,
  connectWriter,
};
