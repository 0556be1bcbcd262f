import { ofPipeline, post } from '../api/client.ts';
import { putOff } from '../state/put-off.ts';
import { askFirst } from '../state/question.ts';
import { amount } from '../text/numbers.ts';
import { visible } from '../text/visible.ts';
import { act, actOnEach, signature } from './act.ts';

/** Which letters are meant, as the API takes it. */
export interface Meant {
  readonly key?: string;
  readonly type?: string;
  readonly error?: string;
  readonly state?: string;
  readonly olderThan?: number;
  readonly all?: true;
}

/** Releases the keys of the letters: they run in order, before what comes then. */
export async function retryLetters(pipeline: string, meant: Meant, keys: number | null): Promise<void> {
  await act(
    keys === null ? 'Retry all that fit' : `Retry ${amount(keys, 'key')}`,
    () => post<{ keys: string[] }>(ofPipeline(pipeline, '/letters/retry'), { ...meant, ...signature() }),
    ({ keys: released }) =>
      released.length === 0
        ? 'Nothing waits any more.'
        : `${amount(released.length, 'key')} will run again, in order.`,
  );
}

/** Releases several keys. */
export async function retryKeys(pipeline: string, keys: readonly string[]): Promise<void> {
  await actOnEach(
    'Retry',
    keys,
    (key) => post(ofPipeline(pipeline, '/letters/retry'), { key, ...signature() }),
    'will run again, in order',
  );
}

/** Keys with the number of the letter that was seen as their first: when it is another one by then, nothing is done. */
export type Heads = ReadonlyMap<string, string>;

/** Leaves the first letter of each key out. Put off, since the key runs on at once and nothing brings it back to before. */
export async function skipLetters(pipeline: string, heads: Heads, done: () => void): Promise<void> {
  const keys = [...heads.keys()];
  const note = await askFirst({
    title: `Skip the first letter of ${keysText(keys)}`,
    text: [
      'It counts as done without having been handled, and what waits behind it runs.',
      'For ten seconds it can be taken back.',
    ],
    ...{ confirm: 'Skip', danger: true, note: false },
  });
  if (note === null) return;
  putOff(`The first letter of ${keysText(keys)} is going to be skipped.`, () => {
    void actOnEach(
      'Skip',
      keys,
      (key) => post(ofPipeline(pipeline, '/letters/skip'), { key, letter: heads.get(key), ...signature() }),
      'went on without the first letter',
    ).then(done);
  });
}

/** Gives up all letters of each key. Put off for the same reason. */
export async function discardLetters(
  pipeline: string,
  keys: readonly string[],
  done: () => void,
): Promise<void> {
  const note = await askFirst({
    title: `Discard all letters of ${keysText(keys)}`,
    text: [
      'None of them will ever be handled, and the keys go on with what comes then.',
      'For ten seconds it can be taken back; afterwards they stay in the table as discarded, to be looked at.',
    ],
    ...{ confirm: 'Discard', danger: true, note: false },
  });
  if (note === null) return;
  putOff(`All letters of ${keysText(keys)} are going to be discarded.`, () => {
    void actOnEach(
      'Discard',
      keys,
      (key) => post(ofPipeline(pipeline, '/letters/discard'), { key, ...signature() }),
      'went on without their letters',
    ).then(done);
  });
}

function keysText(keys: readonly string[]): string {
  return keys.length === 1 ? visible(keys[0] ?? '', 80) : amount(keys.length, 'key');
}
