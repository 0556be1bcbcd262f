import mysql from 'mysql2/promise';
import type { MysqlKind } from './mysql-kind.js';
import type { MysqlOptions } from './mysql-options.js';
import { prepareServerOfKind, startServerOfKind, type MysqlServer } from './mysql-server.js';

export const mysqlUrlVariable = 'STRANDLINE_TEST_MYSQL_URL';

export const mysqlKind: MysqlKind = {
  kind: 'mysql',
  name: 'MySQL',
  urlVariable: mysqlUrlVariable,
  settings: {
    // ROW is the default, and naming it is deprecated.
    'gtid-mode': 'ON',
    'enforce-gtid-consistency': 'ON',
    'innodb-redo-log-capacity': '64M',
    // Statistics that nobody looks at, of 70 MB.
    'performance-schema-digests-size': '100',
    'performance-schema-error-size': '0',
  },
  required: { log_bin: 'ON', binlog_format: 'ROW', binlog_row_metadata: 'FULL', gtid_mode: 'ON' },
  versions: [
    // Stable releases of Debian have MariaDB only.
    { version: '9', debian: { suite: 'unstable', share: 'usr/share/mysql' } },
    { version: '8.4' },
    { version: '8.0' },
  ],
  image: 'mysql',
  imagePasswordVariable: 'MYSQL_ROOT_PASSWORD',
  local: {
    package: 'mysql-server-core',
    program: 'usr/sbin/mysqld',
    binlogTool: { package: 'mysql-server-core', program: 'usr/bin/mysqlbinlog' },
    settings: { mysqlx: 'OFF' },
    initialisation: ['--initialize-insecure', '--innodb-redo-log-capacity=64M'],
    initialStatements: () => Promise.resolve(''),
    identityFile: 'auto.cnf', // the server's UUID, part of each of its GTIDs
  },
  replication: {
    follow: ({ host, port, user, password }) => [
      `CHANGE REPLICATION SOURCE TO SOURCE_HOST = ${mysql.escape(host)}, SOURCE_PORT = ${String(port)},
        SOURCE_USER = ${mysql.escape(user)}, SOURCE_PASSWORD = ${mysql.escape(password)},
        SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1,
        SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 86400`,
      'SET GLOBAL super_read_only = ON',
      'START REPLICA',
    ],
    executed: 'SELECT @@GLOBAL.gtid_executed',
    wait: 'SELECT WAIT_FOR_EXECUTED_GTID_SET(?, ?)',
    promote: ['STOP REPLICA', 'RESET REPLICA ALL', 'SET GLOBAL read_only = OFF'], // super_read_only goes with it
  },
};

/**
 * A MySQL for tests: the one that `STRANDLINE_TEST_MYSQL_URL` names, unless the options ask for a server of their
 * own; else a container where a Docker engine answers; else from Debian packages that are unpacked into the project's
 * cache.
 *
 * @throws ServerError `SERVER_UNAVAILABLE` with the reason of each way, `SERVER_START_FAILED` with the log.
 */
export function startMysql(options: MysqlOptions = {}): Promise<MysqlServer> {
  return startServerOfKind(mysqlKind, options);
}

/** Gets onto this machine what `startMysql` needs, so that it takes seconds. */
export function prepareMysql(version?: string): Promise<void> {
  return prepareServerOfKind(mysqlKind, version);
}
