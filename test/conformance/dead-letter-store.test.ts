import { deadLetterDesk, deadLetters } from '@strandline/dead-letters';
import { MemoryDeadLetters, testDatabase } from '@strandline/test-kit';
import { describeDeadLetterStore } from './dead-letter-store.js';

describeDeadLetterStore('memory', () => {
  const letters = new MemoryDeadLetters();
  return Promise.resolve({
    open: () => letters.store(),
    desk: () => letters.desk(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
});

describeDeadLetterStore('Postgres', async () => {
  const db = await testDatabase();
  const options = { postgres: { url: db.url } };
  return {
    open: () => deadLetters(options),
    desk: () => deadLetterDesk(options),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
});
