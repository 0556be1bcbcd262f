import type { BookmarkAnswer, ReplayAnswer } from '@strandline/admin';
import { ofPipeline, post } from '../api/client.ts';
import { askFirst } from '../state/question.ts';
import { act, signature } from './act.ts';

/** A place of the log, as the API takes it. */
export type Place =
  'earliest' | { readonly bookmark: string } | { readonly position: string } | { readonly time: string };

export interface ReplayWish {
  readonly from: Place;
  readonly to?: 'now' | Exclude<Place, 'earliest'>;
  readonly key?: string;
  readonly type?: string;
  readonly handler?: string;
  readonly as?: string;
  readonly restart?: true;
  readonly dryRun?: true;
}

export function createBookmark(pipeline: string, name: string, position: string | null): Promise<boolean> {
  return act(
    `Bookmark ${name}`,
    () =>
      post<BookmarkAnswer>(ofPipeline(pipeline, '/bookmarks'), {
        name,
        ...(position === null ? {} : { position }),
        ...signature(),
      }),
    () => `The bookmark ${name} is set.`,
    () => () => void forget(pipeline, name),
  );
}

export function deleteBookmark(pipeline: string, { name, position }: BookmarkAnswer): Promise<boolean> {
  return act(
    `Delete the bookmark ${name}`,
    () => post(ofPipeline(pipeline, '/bookmarks/delete'), { name, ...signature() }),
    () => `The bookmark ${name} is gone.`,
    () => () => void createBookmark(pipeline, name, position),
  );
}

export async function startReplay(pipeline: string, wish: ReplayWish): Promise<boolean> {
  if (wish.dryRun !== true) {
    const note = await askFirst({
      title: `Replay a part of ${pipeline}`,
      text: [
        'The handler is called again for events that were handled before, beside the live pipeline and with ctx.replay set.',
        'The live offset is not moved. What the handler does to the world outside it does again, unless it heeds ctx.replay.',
      ],
      ...{ confirm: 'Replay', danger: true, note: false },
    });
    if (note === null) return false;
  }
  return act(
    'Replay',
    () => post<ReplayAnswer>(ofPipeline(pipeline, '/replays'), { ...wish, ...signature() }),
    ({ name, dryRun }) => (dryRun ? `The dry run ${name} counts.` : `The replay ${name} runs.`),
  );
}

export async function stopReplay(pipeline: string, name: string): Promise<void> {
  await act(
    `Stop the replay ${name}`,
    () => post<ReplayAnswer>(ofPipeline(pipeline, '/replays/stop'), { name, ...signature() }),
    () => `The replay ${name} has stopped; started again by that name, it goes on where it was.`,
  );
}

async function forget(pipeline: string, name: string): Promise<void> {
  await act(
    `Delete the bookmark ${name}`,
    () => post(ofPipeline(pipeline, '/bookmarks/delete'), { name, ...signature() }),
    () => `The bookmark ${name} is gone.`,
  );
}
