import type { Source } from '@strandline/core';
import { sourceOnDemand } from '@strandline/source-kit';
import { parseMysqlOptions, type MysqlOptions } from './config.js';

/**
 * An outbox table of a MySQL or MariaDB server, read from its binlog. Throws `MYSQL_CONFIG` for wrong options.
 */
export function mysql(options: MysqlOptions): Source {
  const config = parseMysqlOptions(options);
  return sourceOnDemand('mysql', async () => {
    const { MysqlSource } = await import('./source.js');
    return new MysqlSource(config);
  });
}
