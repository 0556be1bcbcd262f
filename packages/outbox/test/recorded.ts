import type { Dialect, Executor, Param } from '@strandline/outbox';

export interface Recorded extends Executor {
  readonly statements: { readonly sql: string; readonly params: readonly Param[] }[];
}

/** An executor that keeps what it was told to run. */
export function recorded(dialect: Dialect = 'postgres'): Recorded {
  const statements: Recorded['statements'] = [];
  return {
    dialect,
    statements,
    run: (sql, params) => {
      statements.push({ sql, params });
      return Promise.resolve();
    },
  };
}
