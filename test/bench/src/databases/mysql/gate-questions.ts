import { Connection } from 'mysql2';

/** The statements by which the visibility gate asks MySQL and MariaDB how far they have committed. */
const QUESTIONS = new Set<unknown>([
  'select @@global.gtid_executed as executed',
  'start transaction with consistent snapshot, read only',
]);

/** Counts the gate's questions where they leave this process: no status has them. */
export function countQuestions(): () => number {
  let questions = 0;
  const prototype = Connection.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const original = prototype.query;
  prototype.query = function query(...args: unknown[]): unknown {
    const [statement] = args;
    const sql =
      typeof statement === 'object' && statement !== null ? (statement as { sql?: string }).sql : statement;
    if (QUESTIONS.has(sql)) questions += 1;
    return original.apply(this, args);
  };
  return () => questions;
}
