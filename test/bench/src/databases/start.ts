import { startMariadb, startMysql } from '@strandline/servers';
import type { BenchDatabase } from './bench-database.js';
import { MysqlBench } from './mysql/mysql-bench.js';
import type { DatabaseName } from './names.js';
import { PostgresBench } from './postgres/postgres-bench.js';

export async function startDatabase(name: DatabaseName): Promise<BenchDatabase> {
  switch (name) {
    case 'postgres':
      return PostgresBench.start();
    case 'mysql':
      return new MysqlBench(await startMysql({ exclusive: true }));
    case 'mariadb':
      return new MysqlBench(await startMariadb({ exclusive: true }));
  }
}
