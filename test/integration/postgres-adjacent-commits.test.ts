import { startPostgres } from '@strandline/servers';
import {
  faultless,
  PipelineRuns,
  PostgresTestOutbox,
  type CommittedEvent,
  type OutboxSession,
  type PostgresTransaction,
} from '@strandline/test-kit';
import { expect, test } from 'vitest';

/** The end of one commit record can be the start of the next one: who confirms a byte too many loses a transaction. */
test.each([
  ['both commits sent at once, the process killed while the second is handled', 'together'],
  ['the process killed before the second commits', 'apart'],
] as const)(
  'completeness: also the second of two transactions whose commit records touch: %s',
  async (_, kind) => {
    const rounds = kind === 'together' ? 5 : 10;
    // On a server of its own: nothing else writes between the two commits.
    await using server = await startPostgres({ exclusive: true });
    await using outbox = await PostgresTestOutbox.create(server.url);
    const { db } = outbox;
    const witness = await outbox.witness();
    await using one = await outbox.session();
    await using other = await outbox.session();
    await using runs = await PipelineRuns.prepare(outbox, { name: 'touching', behaviour: { hold: ['*'] } });
    const { history } = runs;
    let life = await runs.start();

    const insert = async (session: OutboxSession, key: string): Promise<void> => {
      await session.begin();
      await session.insert([{ key }]);
    };
    const handle = async ({ id, key }: CommittedEvent): Promise<void> => {
      life.release(key);
      await history.until(`event ${id} had succeeded`, () => history.succeeded.has(id), 10_000);
    };
    for (let touching = 0, tried = 0; touching < rounds; tried += 1) {
      expect(tried, 'something else writes to this server between two commits').toBeLessThan(2 * rounds);
      await insert(one, `x${String(tried)}`);
      await insert(other, `y${String(tried)}`);
      await Promise.all([one.commit(), ...(kind === 'together' ? [other.commit()] : [])]);
      const seen = await witness.transactions();
      const first = at(seen, kind === 'together' ? -2 : -1);
      await handle(first.event);
      // Apart, the slot is confirmed up to the end of the first to the byte, which is where the second starts.
      const confirmed = kind === 'together' ? first.commitLsn : first.endLsn;
      await db.waitFor('the first is confirmed', confirmedUpTo, [db.slot(), String(confirmed)]);
      await life.kill();
      if (kind === 'apart') await other.commit();
      const second = at(await witness.transactions(), -1);
      if (second.commitLsn === first.endLsn) touching += 1;
      life = await runs.start();
      await handle(second.event);
    }
    expect(outbox.check(await witness.events(), history)).toMatchObject(faultless);
    expect(await life.stop()).toEqual({ code: 0, signal: null });
  },
);

const confirmedUpTo = `SELECT confirmed_flush_lsn >= '0/0'::pg_lsn + $2::numeric FROM pg_replication_slots
  WHERE slot_name = $1`;

/** A transaction of one row, counted from the end of the list. */
function at(
  transactions: readonly PostgresTransaction[],
  index: number,
): PostgresTransaction & { readonly event: CommittedEvent } {
  const transaction = transactions.at(index);
  const event = transaction?.events[0];
  if (transaction === undefined || event === undefined)
    throw new Error('The witness saw no such transaction.');
  return { ...transaction, event };
}
