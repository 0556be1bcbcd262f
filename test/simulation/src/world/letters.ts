import type { DeadLetterStore, LetterResult } from '@strandline/core';
import { FaultyCalls } from './faulty-calls.js';
import type { Member } from './member.js';
import type { World } from './world.js';

/** The dead-letter table of one process: the one in memory that all share, behind a network. */
export function simulatedLetters(world: World, member: Member): DeadLetterStore {
  const store = world.letters.store();
  const { promises } = world;
  const calls = new FaultyCalls(world, member, {
    purpose: 'letters',
    // A transaction that was given up can commit yet; whoever asks again waits for its lock.
    fates: ['lost', 'unanswered', 'late'],
    unfinished: world.unfinishedLetters,
    code: 'LETTERS_UNAVAILABLE',
    isAway: () => world.lettersAway > 0,
  });
  const noted = async (work: Promise<LetterResult>, note: () => void): Promise<LetterResult> => {
    const result = await work;
    if (result === 'stored') note();
    return result;
  };
  return {
    name: 'simulated',
    claim: (fence, watermark) => calls.call(() => store.claim(fence, watermark)),
    park: (fence, key, letters, where, limits, retryAt) =>
      calls.call(() =>
        noted(store.park(fence, key, letters, where, limits, retryAt), () => {
          for (const { event } of letters) promises.stored(event);
        }),
      ),
    skip: (fence, letter, limits) =>
      calls.call(() =>
        noted(store.skip(fence, letter, limits), () => {
          promises.leftOut(letter.event);
        }),
      ),
    read: (fence, key, limit) => calls.call(() => store.read(fence, key, limit), { onlyReads: true }),
    handled: (fence, letters) =>
      calls.call(() =>
        noted(store.handled(fence, letters), () => {
          for (const { event } of letters) promises.letterHandled(event);
        }),
      ),
    failed: (fence, letter, failure, retryAt) =>
      calls.call(() => store.failed(fence, letter, failure, retryAt)),
    unpark: (fence, key) => calls.call(() => store.unpark(fence, key)),
    released: (fence, limit) => calls.call(() => store.released(fence, limit), { onlyReads: true }),
    prune: (fence, isSettled, limit) => calls.call(() => store.prune(fence, isSettled, limit)),
    suspect: (fence, identity) => calls.call(() => store.suspect(fence, identity)),
    release: (fence) => calls.call(() => store.release(fence)),
    desk: () => store.desk(),
    close: () => Promise.resolve(),
  };
}
