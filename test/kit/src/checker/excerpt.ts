import type { CallEntry } from './call-entry.js';
import type { Placed } from './commit-order.js';

/**
 * Lines of commit order and of calls, each with its number there: what lies between was left out.
 *
 * @param notes what did not happen, at the end
 */
export function excerptOf(
  rows: readonly (Placed | undefined)[],
  entries: readonly (CallEntry | undefined)[],
  ...notes: readonly string[]
): string {
  const byNumber = <T extends { number: number }>(all: readonly (T | undefined)[]): T[] => {
    const numbered = new Map(all.flatMap((one) => (one === undefined ? [] : [[one.number, one] as const])));
    return [...numbered.values()].sort((a, b) => a.number - b.number);
  };
  return [...byNumber(rows).map(rowLine), ...byNumber(entries).map(entryLine), ...notes].join('\n');
}

function rowLine({ number, id, key, position, transaction }: Placed): string {
  const where = transaction === undefined ? position : `transaction ${transaction}`;
  return `commit ${String(number)}: ${id} of key ${key}${where === undefined ? '' : `, ${where}`}`;
}

function entryLine({ number, run, what, ids, attempt, key }: CallEntry): string {
  return `call ${String(number)}: life ${String(run)} ${what} ${ids.join(', ')} of key ${key}, attempt ${String(attempt)}`;
}
