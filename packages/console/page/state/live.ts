import { signal } from '@preact/signals';
import type { PipelineAnswer } from '@strandline/admin';
import { get, open } from '../api/client.ts';
import { readEvents } from '../api/event-stream.ts';
import { problemFrom, type Problem } from '../api/problem.ts';
import { remember } from './history.ts';
import { tokenAsked } from '../browser/session.ts';

export type Connection = 'connecting' | 'live' | 'lost';

/** The newest look at every pipeline of the process; null before the first. */
export const looks = signal<readonly PipelineAnswer[] | null>(null);
export const connection = signal<Connection>('connecting');
/** Why there is no look. */
export const trouble = signal<Problem | null>(null);
export const readOnly = signal(false);
/** The moment of the newest look by this browser's clock: spans are told against it, so they move with the looks. */
export const now = signal(Date.now());

/** Milliseconds from a lost stream to the next try, and without a look until the stream counts as lost. */
const AGAIN = 1_000;
const SILENCE = 5_000;

interface Look {
  readonly pipelines: readonly PipelineAnswer[];
}

/** Follows the process for as long as the page is open. */
export async function follow(): Promise<never> {
  for (;;) {
    try {
      await followOnce();
    } catch (error) {
      const problem = problemFrom(error);
      trouble.value = problem;
      if (problem.status === 401) tokenAsked.value = true;
    }
    connection.value = 'lost';
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
    while (tokenAsked.value) await untilTokenIsGiven();
  }
}

async function followOnce(): Promise<void> {
  const silent = new AbortController();
  let watch: ReturnType<typeof setTimeout> | undefined;
  const listen = (): void => {
    clearTimeout(watch);
    watch = setTimeout(() => {
      silent.abort();
    }, SILENCE);
  };
  listen();
  try {
    readOnly.value = (await get<{ readOnly: boolean }>('pipelines', {}, silent.signal)).readOnly;
    const { body } = await open('live', silent.signal);
    if (body === null) return;
    await readEvents(body, (data) => {
      listen();
      saw(JSON.parse(data) as Look);
    });
  } finally {
    clearTimeout(watch);
  }
}

function saw({ pipelines }: Look): void {
  now.value = Date.now();
  looks.value = pipelines;
  connection.value = 'live';
  trouble.value = null;
  for (const { name, sample } of pipelines) if (sample !== null) remember(name, [sample]);
}

function untilTokenIsGiven(): Promise<void> {
  return new Promise((resolve) => {
    const end = tokenAsked.subscribe((asked) => {
      if (asked) return;
      resolve();
      queueMicrotask(() => {
        end();
      });
    });
  });
}
