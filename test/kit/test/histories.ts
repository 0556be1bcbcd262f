import type { Committed } from '../src/checker/commit-order.js';
import { judge } from '../src/checker/judge.js';
import type { JudgeOptions, Judgement } from '../src/checker/judgement.js';
import type { HistoryEntry } from '../src/history.js';

/** Key a has the events 1, 3, 4, 5; key b has 2. */
export const committed: readonly Committed[] = [
  { id: '1', key: 'a', position: '0/100:1' },
  { id: '2', key: 'b', position: '0/100:2' },
  { id: '3', key: 'a', position: '0/200:1' },
  { id: '4', key: 'a', position: '0/300:1' },
  { id: '5', key: 'a', position: '0/300:2' },
];

/**
 * Reads `life started|succeeded|failed ids [attempt]`, one entry each, as in `1 started 1,3 2`. The time of an entry is
 * its number, from 1 on.
 */
export function entriesOf(lines: readonly string[]): HistoryEntry[] {
  return lines.map((line, index) => {
    const [run, what, list = '', attempt = '1'] = line.split(' ');
    const ids = list.split(',');
    const events = ids.map((id) => committed.find((event) => event.id === id));
    return {
      what: what as HistoryEntry['what'],
      run: Number(run),
      attempt: Number(attempt),
      key: events[0]?.key ?? '?',
      ids,
      positions: events.map((event) => event?.position ?? '?'),
      at: index + 1,
    };
  });
}

/** Calls of single events, one after the other, each of which succeeds. */
export function handled(run: number, ...ids: string[]): string[] {
  return ids.flatMap((id) => [`${String(run)} started ${id}`, `${String(run)} succeeded ${id}`]);
}

export function judged(lines: readonly string[], options?: JudgeOptions): Judgement {
  return judge(committed, entriesOf(lines), options);
}

/** What was found, in short: `swaps 3 4`. */
export function briefly(judgement: Judgement): string[] {
  return Object.entries(judgement).flatMap(([kind, findings]) =>
    (findings as Judgement['missed']).map(({ ids }) => `${kind} ${ids.join(' ')}`),
  );
}
