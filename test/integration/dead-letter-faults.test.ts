import type { DeadLetter, DeadLetterStore, LetterResult } from '@strandline/core';
import { deadLetterDesk, deadLetters } from '@strandline/dead-letters';
import { databaseKinds, TcpProxy, waitUntil } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';
import { closing, event, lettersOf, ROOMY } from '../conformance/dead-letter-fixtures.js';
import { letterDatabase, type LetterDatabase } from './dead-letter-database.js';

const fence = { pipeline: 'shop', epoch: 1 };
const away = { code: 'LETTERS_UNAVAILABLE', transient: true };

function park(store: DeadLetterStore, key: string, from: number, to: number): Promise<LetterResult> {
  return store.park(fence, key, lettersOf(key, from, to), 'behind', ROOMY);
}

async function waiting(store: DeadLetterStore, key: string): Promise<string[]> {
  return (await store.read(fence, key, 100)).map((letter) => letter.event.id);
}

/** What a pipeline does: it asks until it gets an answer. */
function answered<T>(ask: () => Promise<T>): Promise<NonNullable<T>> {
  return waitUntil('the table answers', () =>
    ask().catch((error: unknown) => {
      expect(error).toMatchObject(away);
      return null;
    }),
  );
}

/** Rows, and what is counted of them. */
async function expectSound(db: LetterDatabase): Promise<void> {
  const [counts] = await db.run(`select
    (select held from strandline_letter_owners) - (select count(*) from strandline_dead_letters
      where state in ('waiting', 'skipped')) as held,
    (select coalesce(sum(waiting), 0) from strandline_parked_keys) - (select count(*) from strandline_dead_letters
      where state = 'waiting') as waiting`);
  expect(Object.values(counts ?? {}).map(Number)).toEqual([0, 0]);
}

describe.each(databaseKinds)('the table in %s', (kind) => {
  test.each([
    ['its pipeline', 'select * from strandline_letter_owners for update'],
    ['its key', "select * from strandline_parked_keys where event_key = 'a' for update"],
  ])(
    'a session that is ended while it waits for %s has done nothing, and what is said again is done once',
    async (_, sql) => {
      await using db = await letterDatabase(kind);
      // Longer than the test: it hears of the end, and does not wait for it.
      await using store = closing(deadLetters({ ...db.options(), statementTimeout: 120_000 }));
      await store.claim(fence, 'w');
      await park(store, 'a', 1, 2);
      {
        await using holder = await db.hold();
        await holder.run(sql);
        const cut = park(store, 'a', 3, 4).catch((error: unknown) => error);
        await db.untilWaiting();
        await db.endSessions();
        expect(await cut).toMatchObject(away);
      }
      expect(await waiting(store, 'a')).toEqual(['1', '2']);
      expect(await park(store, 'a', 3, 4)).toBe('stored');
      expect(await park(store, 'a', 3, 4)).toBe('stored');
      expect(await waiting(store, 'a')).toEqual(['1', '2', '3', '4']);
      await expectSound(db);
    },
  );

  test('a session that ends between two calls is not noticed', async () => {
    await using db = await letterDatabase(kind);
    await using store = closing(deadLetters(db.options()));
    await using desk = closing(deadLetterDesk(db.options()));
    await store.claim(fence, 'w');
    await park(store, 'a', 1, 2);
    await db.endSessions();
    expect(await park(store, 'a', 3, 3)).toBe('stored');
    await db.endSessions();
    expect(await waiting(store, 'a')).toEqual(['1', '2', '3']);
    expect(await desk.retry('shop', {})).toEqual(['a']);
    await db.endSessions();
    expect(await desk.discard('shop', 'a')).toBe(3);
    await db.endSessions();
    expect(await store.released(fence, 5)).toEqual(['a']);
  });

  test('what is held longer than a statement may take is told, and the locks are given up', async () => {
    await using db = await letterDatabase(kind);
    await using store = closing(deadLetters({ ...db.options(), statementTimeout: 500 }));
    await using desk = closing(deadLetterDesk(db.options()));
    await store.claim(fence, 'w');
    {
      await using holder = await db.hold();
      await holder.run('select * from strandline_letter_owners for update');
      await expect(park(store, 'a', 1, 2)).rejects.toMatchObject(away);
    }
    expect(await answered(() => park(store, 'a', 1, 2))).toBe('stored');
    expect(await desk.discard('shop', 'a')).toBe(2);
  });

  test.each<[string, (store: DeadLetterStore, key: string, head?: DeadLetter) => Promise<LetterResult>]>([
    ['parking', (store, key) => park(store, key, 1, 3)],
    ['the end of a letter', (store, key, head) => store.handled(fence, [head ?? expect.fail(key)])],
  ])(
    '%s: a network that dies at any step leaves all or nothing, and what is said again is done once',
    async (what, act) => {
      await using db = await letterDatabase(kind);
      await using proxy = await TcpProxy.start(db.url);
      await using owner = closing(deadLetters(db.options()));
      await owner.claim(fence, 'w');
      const isParking = what === 'parking';
      const [before, after] = isParking
        ? [[], ['1', '2', '3']]
        : [
            ['1', '2', '3'],
            ['2', '3'],
          ];
      const limits = { connectTimeout: 250, statementTimeout: 250 };
      let failures = 0;
      for (let step = 1; ; step += 1) {
        const key = `k${String(step)}`;
        if (!isParking) await park(owner, key, 1, 3);
        const [head] = await owner.read(fence, key, 1);
        await using store = closing(deadLetters({ ...db.options(proxy.url), ...limits }));
        proxy.freezeLater({ connection: 1, chunks: step });
        const outcome = await act(store, key, head).catch((error: unknown) => error);
        if (outcome !== 'stored') {
          failures += 1;
          expect(outcome).toMatchObject(away);
          // The server finds out, at once and not in a while, and undoes what it has not committed.
          await db.endSessions();
          expect([before, after]).toContainEqual(await waiting(owner, key));
        }
        expect(await answered(() => act(store, key, head))).toBe('stored');
        expect(await waiting(owner, key)).toEqual(after);
        if (outcome === 'stored') break;
      }
      expect(failures).toBeGreaterThan(6);
      await expectSound(db);
    },
  );

  test('a session whose client has gone without a word gives its locks up', async () => {
    await using db = await letterDatabase(kind);
    await using proxy = await TcpProxy.start(db.url);
    await using owner = closing(deadLetters(db.options()));
    await owner.claim(fence, 'w');
    await using gone = closing(deadLetters({ ...db.options(proxy.url), statementTimeout: 700 }));
    await park(gone, 'a', 1, 1);
    {
      await using holder = await db.hold();
      await holder.run('select * from strandline_letter_owners for update');
      const lost = park(gone, 'a', 2, 2).catch((error: unknown) => error);
      await db.untilWaiting();
      proxy.freeze();
      expect(await lost).toMatchObject(away);
    }
    expect(await answered(() => park(owner, 'a', 3, 3))).toBe('stored');
    expect(await waiting(owner, 'a')).toContain('3');
  });

  test('a former owner that was on its way is refused, and nothing of it remains', async () => {
    await using db = await letterDatabase(kind);
    await using former = closing(deadLetters(db.options()));
    await using successor = closing(deadLetters(db.options()));
    await former.claim(fence, 'w');
    const late: Promise<unknown>[] = [];
    {
      await using holder = await db.hold();
      await holder.run('select * from strandline_letter_owners for update');
      late.push(successor.claim({ ...fence, epoch: 2 }, 'w'));
      await db.untilWaiting();
      late.push(park(former, 'a', 1, 3));
    }
    const [claimed, parked] = await Promise.all(late);
    expect(claimed).not.toBe('fenced');
    // Whoever came first: it is all there, or refused.
    const left = (await successor.read({ ...fence, epoch: 2 }, 'a', 9)).length;
    expect([parked, left]).toEqual(parked === 'fenced' ? ['fenced', 0] : ['stored', 3]);
    expect(await park(former, 'b', 1, 1)).toBe('fenced');
  });

  test('closing does not wait for a server that does not answer', async () => {
    await using db = await letterDatabase(kind);
    await using proxy = await TcpProxy.start(db.url);
    const store = deadLetters(db.options(proxy.url));
    await store.claim(fence, 'w');
    proxy.freeze();
    const cut = park(store, 'a', 1, 1).catch((error: unknown) => error);
    await store.close();
    expect(await cut).toMatchObject({ code: 'LETTERS_CLOSED' });
    await expect(park(store, 'a', 1, 1)).rejects.toMatchObject({ code: 'LETTERS_CLOSED' });
    // An idle one says goodbye in vain.
    const other = deadLetters(db.options(proxy.url));
    await other.claim(fence, 'w');
    proxy.freeze();
    await other.close();
  });

  test('stores many letters in one call', async () => {
    await using db = await letterDatabase(kind);
    await using store = closing(deadLetters(db.options()));
    await store.claim(fence, 'w');
    const letters = lettersOf('hot', 1, 1_000).map(({ event: one, ...letter }) => ({
      ...letter,
      event: event('hot', Number(one.id), {
        payloadFormat: 'text',
        payloadText: '🦀"\\'.repeat(2_000),
        bytes: 8_400,
      }),
    }));
    expect(await store.park(fence, 'hot', letters, 'behind', ROOMY)).toBe('stored');
    const [first, ...rest] = await store.read(fence, 'hot', 1_000);
    expect(first?.event.payload).toBe('🦀"\\'.repeat(2_000));
    expect(rest.length).toBeGreaterThan(900);
    await expectSound(db);
  });
});
