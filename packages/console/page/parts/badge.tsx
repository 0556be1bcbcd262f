import type { ComponentChildren, JSX } from 'preact';

export type Tone = 'good' | 'calm' | 'warn' | 'bad' | 'busy';

/** A word with a colour. The word says it all: nobody has to see the colour. */
export function Badge({
  tone,
  children,
}: {
  readonly tone: Tone;
  readonly children: ComponentChildren;
}): JSX.Element {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** What the states of strands, pipelines, letters and findings are: one place for all of them. */
const TONES: Readonly<Record<string, Tone>> = {
  ...{ running: 'good', live: 'good', pass: 'good', completed: 'good', handled: 'good' },
  ...{ ready: 'calm', standby: 'calm', waiting: 'warn', skipped: 'calm', discarded: 'calm' },
  ...{ backoff: 'warn', held: 'warn', parked: 'warn', warn: 'warn', draining: 'warn', stopping: 'warn' },
  ...{ stuck: 'bad', exhausted: 'bad', halted: 'bad', failed: 'bad', fail: 'bad', full: 'bad' },
};

export function StateBadge({ state }: { readonly state: string }): JSX.Element {
  return <Badge tone={TONES[state] ?? 'calm'}>{state}</Badge>;
}
