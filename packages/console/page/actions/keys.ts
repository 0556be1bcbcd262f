import { ofPipeline, post } from '../api/client.ts';
import { askFirst } from '../state/question.ts';
import { visible } from '../text/visible.ts';
import { act, actOnEach, signature } from './act.ts';
import { retryLetters } from './letters.ts';

/** A live key, and which head of it is meant: when it is another one by now, nothing is done. */
export interface Head {
  readonly pipeline: string;
  readonly key: string;
  readonly position?: string | undefined;
}

interface Done {
  readonly outcome: 'done' | 'under way';
}

export async function retryHead(head: Head): Promise<void> {
  await act(
    `Retry ${named(head)}`,
    () => change('retry', head),
    () => `${named(head)} is tried now.`,
  );
}

/** Tries several keys now: what made them fail is mended. */
export async function retryHeads(pipeline: string, heads: readonly Head[]): Promise<void> {
  const positions = new Map(heads.map(({ key, position }) => [key, position]));
  await actOnEach(
    'Retry',
    [...positions.keys()],
    (key) => change('retry', { pipeline, key, position: positions.get(key) }),
    heads.length === 1 ? 'is tried now' : 'are tried now',
  );
}

export async function holdKey({ pipeline, key }: Head): Promise<void> {
  const note = await askFirst({
    title: `Hold the key ${visible(key, 80)}`,
    text: [
      'No handler of this key starts any more until somebody lets it go on; other keys are not concerned.',
      'Its events wait in the window, and the log is held from the first of them on: park the key instead if that may take long.',
    ],
    ...{ confirm: 'Hold it', danger: false, note: true },
  });
  if (note === null) return;
  await act(
    `Hold ${visible(key, 80)}`,
    () => post(ofPipeline(pipeline, '/keys/hold'), { key, ...signature(), note }),
    () => `${visible(key, 80)} is held.`,
    () => () => void releaseKey({ pipeline, key }),
  );
}

export async function releaseKey({ pipeline, key }: Head): Promise<void> {
  await act(
    `Release ${visible(key, 80)}`,
    () => post(ofPipeline(pipeline, '/keys/release'), { key, ...signature() }),
    () => `${visible(key, 80)} goes on.`,
  );
}

export async function parkHead(head: Head): Promise<void> {
  const note = await askFirst({
    title: `Park ${named(head)}`,
    text: [
      'The first event and all that follow of this key go to the dead letters, in order, and wait there for somebody.',
      'The log is no longer held by them. Retrying the letters later runs them in order, before what comes then.',
    ],
    ...{ confirm: 'Park', danger: false, note: false },
  });
  if (note === null) return;
  await act(
    `Park ${named(head)}`,
    () => change('park', head),
    ({ outcome }) =>
      outcome === 'done' ? `${named(head)} is parked.` : `${named(head)} is parked once its handler ends.`,
    () => () => void retryLetters(head.pipeline, { key: head.key }, 1),
  );
}

export async function skipHead(head: Head): Promise<void> {
  const note = await askFirst({
    title: `Skip the first event of ${visible(head.key, 80)}`,
    text: [
      'This one event goes to the dead letters without having been handled, and the key goes on with the next one.',
      'What depends on it will miss it. It can be retried from the dead letters, but then it comes after the others.',
    ],
    ...{ confirm: 'Skip it', danger: true, note: false },
  });
  if (note === null) return;
  await act(
    `Skip the first event of ${named(head)}`,
    () => change('skip', head),
    () => `${named(head)} goes on without it.`,
  );
}

function change(what: 'retry' | 'park' | 'skip', { pipeline, key, position }: Head): Promise<Done> {
  return post<Done>(ofPipeline(pipeline, `/keys/${what}`), {
    key,
    ...(position === undefined ? {} : { position }),
    ...signature(),
  });
}

function named({ key }: Head): string {
  return visible(key, 80);
}
