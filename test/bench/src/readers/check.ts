import type { RowsPerKey } from '../databases/bench-database.js';
import type { Reading } from './reading.js';

/** A reader missed, repeated or swapped rows: its speed is of no interest. */
export class FaultError extends Error {
  override readonly name = 'FaultError';
}

/** Compares what was read with what the database has; throws a FaultError that says what is wrong. */
export function check(reader: string, reading: Reading, expected: RowsPerKey): void {
  const total = expected.reduce((sum, rows) => sum + rows, 0);
  const problems = [...reading.faults];
  if (reading.seen !== total) problems.push(`${String(reading.seen)} rows were seen of ${String(total)}`);
  const incomplete = [...expected.keys()].filter((key) => reading.lastOrdinals[key] !== expected[key]);
  for (const key of incomplete.slice(0, 3)) {
    problems.push(
      `key ${String(key)} ended with row ${String(reading.lastOrdinals[key])} of ${String(expected[key])}`,
    );
  }
  if (incomplete.length > 3) problems.push(`and so did ${String(incomplete.length - 3)} other keys`);
  if (problems.length > 0) throw new FaultError(`${reader}: ${problems.join('; ')}.`);
}
