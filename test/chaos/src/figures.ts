import type { Stage } from './stage.js';
import type { Timeline } from './timeline.js';
import type { Verdict } from './verdict.js';

/** What a run was, in numbers. */
export interface Figures {
  readonly offsets: 'redis' | 'file';
  readonly seats: number;
  readonly letters: boolean;
  readonly lives: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly transactions: number;
  readonly events: number;
  readonly calls: number;
  readonly duplicates: number;
  readonly tolerated: number;
  readonly missed: number;
  readonly swaps: number;
  readonly overlaps: number;
  readonly strays: number;
  readonly repeats: number;
  readonly released: number;
  readonly offsetsPutBack: number;
  /** Ends of processes that were a documented consequence of a fault. */
  readonly excusedEnds: Readonly<Record<string, number>>;
  /** Looks at the saved offset. */
  readonly looks: number;
  /** Longest time without an event that was handled while there was load, in ms. */
  readonly longestStandstill: number;
  /** From the end of load and faults until everything was handled, in ms. */
  readonly rest: number;
}

interface Run {
  readonly stage: Stage;
  readonly timeline: Timeline;
  readonly verdict: Verdict;
  readonly load: { readonly begun: number };
  readonly loadEnded: number;
}

export function figuresOf({
  stage,
  timeline,
  verdict: { judgement, events },
  load,
  loadEnded,
}: Run): Figures {
  const { crew, history, operator, setup, watch } = stage;
  const done = history.entries.filter(({ what }) => what === 'succeeded').map(({ at }) => at);
  return {
    offsets: setup.offsets,
    seats: setup.seats,
    letters: setup.letters,
    lives: crew.lives.length,
    faults: countsOf(timeline.struck.map(({ name }) => name)),
    transactions: load.begun,
    events,
    calls: history.entries.filter(({ what }) => what === 'started').length,
    duplicates: judgement.duplicates.length,
    tolerated: judgement.tolerated.length,
    missed: judgement.missed.length,
    swaps: judgement.swaps.length,
    overlaps: judgement.overlaps.length,
    strays: judgement.strays.length,
    repeats: judgement.repeats.length,
    released: operator.counts.released,
    offsetsPutBack: operator.counts.putBack,
    excusedEnds: Object.fromEntries(crew.excused),
    looks: watch.looks,
    longestStandstill: longestGap(done.filter((at) => at <= loadEnded)),
    rest: Math.max(0, done.reduce((latest, at) => Math.max(latest, at), loadEnded) - loadEnded),
  };
}

/** One line for each figure. */
export function textOf(figures: Figures): string {
  return Object.entries(figures)
    .map(
      ([name, value]) =>
        `  ${name.padEnd(18)} ${typeof value === 'object' ? listed(value as object) : String(value)}`,
    )
    .join('\n');
}

function listed(counts: object): string {
  return (
    Object.entries(counts)
      .map(([name, count]) => `${name} ${String(count)}`)
      .join(', ') || 'none'
  );
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names.toSorted()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function longestGap(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted.reduce((longest, at, index) => Math.max(longest, at - (sorted[index - 1] ?? at)), 0);
}
