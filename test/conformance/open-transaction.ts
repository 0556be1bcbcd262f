import { rowsOf, type TestOutbox } from '@strandline/test-kit';
import type { OpenTransaction } from './source.js';

/** One on a session of its own, which ends with it. */
export async function openTransaction(outbox: TestOutbox): Promise<OpenTransaction> {
  const session = await outbox.session();
  await session.begin();
  return {
    insert: (...keys) => session.insert(rowsOf(...keys)),
    commit: async () => {
      await session.commit();
      await session[Symbol.asyncDispose]();
    },
    rollback: async () => {
      await session.rollback();
      await session[Symbol.asyncDispose]();
    },
  };
}
