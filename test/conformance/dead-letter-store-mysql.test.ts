import { deadLetterDesk, deadLetters } from '@strandline/dead-letters';
import { testMysqlDatabase } from '@strandline/test-kit';
import { describeDeadLetterStore } from './dead-letter-store.js';

for (const server of ['mysql', 'mariadb'] as const) {
  describeDeadLetterStore(server, async () => {
    const db = await testMysqlDatabase(server);
    const options = { mysql: { url: db.url } };
    return {
      open: () => deadLetters(options),
      desk: () => deadLetterDesk(options),
      [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
    };
  });
}
