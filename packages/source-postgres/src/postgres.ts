import type { Source } from '@strandline/core';
import { sourceOnDemand } from '@strandline/source-kit';
import { parsePostgresOptions, type PostgresOptions } from './config.js';

/**
 * An outbox table (or logical messages) of a Postgres database, read from its logical replication stream.
 * Throws `PG_CONFIG` for wrong options.
 */
export function postgres(options: PostgresOptions): Source {
  const config = parsePostgresOptions(options);
  return sourceOnDemand('postgres', async () => {
    const { PostgresSource } = await import('./source.js');
    return new PostgresSource(config);
  });
}
