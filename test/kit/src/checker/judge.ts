import type { HistoryEntry } from '../history.js';
import { CommitOrder, type Committed } from './commit-order.js';
import { Findings } from './findings.js';
import type { JudgeOptions, Judgement } from './judgement.js';
import { KeyJudge } from './key-judge.js';
import { Lives } from './lives.js';

/**
 * Holds what handlers did against what committed. It shares no code with what it judges.
 *
 * Completeness: for each committed event a call has succeeded. Order, key by key: a call starts when none of its key
 * runs; within a term (see `Term`) each event is the next one in commit order, tried until it succeeds; a later term
 * may begin again with any event that was handled before, and never further on than the first that was not.
 *
 * @param committed in commit order
 * @param calls in the order in which they were written down
 */
export function judge(
  committed: readonly Committed[],
  calls: readonly HistoryEntry[],
  options: JudgeOptions = {},
): Judgement {
  const order = new CommitOrder(committed);
  const lives = new Lives(options);
  const findings = new Findings();
  const keys = new Map<string, KeyJudge>();
  const judgeOf = (key: string): KeyJudge => {
    const known = keys.get(key) ?? new KeyJudge({ key, order, lives, findings, options });
    keys.set(key, known);
    return known;
  };
  for (const [index, entry] of calls.entries()) {
    const numbered = { ...entry, number: index + 1 };
    if (entry.what === 'started') judgeOf(entry.key).start(numbered);
    else judgeOf(entry.key).end(numbered);
  }
  for (const ofKey of keys.values()) ofKey.conclude();
  for (const row of order.rows) judgeOf(row.key).lookForMiss(row);
  return findings.judgement;
}
