import { signal } from '@preact/signals';
import type { Sample } from '@strandline/admin';
import { get, ofPipeline } from '../api/client.ts';

/** As many as the process keeps: a quarter of an hour. */
const KEPT = 900;

/** What is known of each pipeline's last quarter of an hour, oldest first. */
export const histories = signal<ReadonlyMap<string, readonly Sample[]>>(new Map());

/** Adds samples, wherever they belong in time. */
export function remember(pipeline: string, samples: readonly Sample[]): void {
  const known = histories.value.get(pipeline) ?? [];
  const last = known.at(-1)?.at ?? 0;
  const newer = samples.filter(({ at }) => at > last);
  const first = known[0]?.at ?? Infinity;
  const older = known.length === 0 ? [] : samples.filter(({ at }) => at < first);
  if (newer.length === 0 && older.length === 0) return;
  const kept = [...older, ...known, ...newer].slice(-KEPT);
  histories.value = new Map(histories.value).set(pipeline, kept);
}

/** Asks for what was before the page was opened. */
export async function recall(pipeline: string): Promise<void> {
  const { samples } = await get<{ samples: readonly Sample[] }>(ofPipeline(pipeline, '/history'));
  remember(pipeline, samples);
}
