import pg from 'pg';

/** The prepared statement by which the visibility gate asks for a snapshot. */
const QUESTION = 'strandline_snapshot';

/** Counts the gate's questions where they leave this process: no status has them. */
export function countQuestions(): () => number {
  let questions = 0;
  // oxlint-disable-next-line typescript/unbound-method -- called below with the client as `this`
  const original = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  pg.Client.prototype.query = function query(this: pg.Client, ...args: unknown[]): unknown {
    const [statement] = args;
    if (typeof statement === 'object' && (statement as { name?: string }).name === QUESTION) questions += 1;
    return original.apply(this, args);
  } as typeof pg.Client.prototype.query;
  return () => questions;
}
