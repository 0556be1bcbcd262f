import { adminError } from '../errors.js';

/** Milliseconds: beyond what a store or a server is given to answer, or to be found away. */
export const LOOK_PATIENCE = 15_000;
/** … and a change may wait for a handler and for the dead-letter table before. */
export const CHANGE_PATIENCE = 30_000;

/**
 * The answer, if it comes in time: who looks at three in the morning is told that nothing answers, and does not wait. What
 * was begun goes on. Throws `ADMIN_LATE`.
 */
export async function answeredWithin<T>(patience: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(tooLate(patience));
    }, patience);
  });
  // It may fail when nobody waits for it any more.
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(patience: number): Error {
  return adminError(
    'ADMIN_LATE',
    `There was no answer within ${String(patience / 1_000)} s. A change that was asked for may still be made.`,
    'See /healthz for what is away, and /api/v1/audit for how a change has ended, before you ask again.',
    { transient: true },
  );
}
