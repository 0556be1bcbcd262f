import { readFile } from 'node:fs/promises';
import path from 'node:path';
import mysql from 'mysql2/promise';
import type { MysqlKind } from '../mysql/mysql-kind.js';
import type { MysqlOptions } from '../mysql/mysql-options.js';
import { prepareServerOfKind, startServerOfKind, type MysqlServer } from '../mysql/mysql-server.js';

export const mariadbUrlVariable = 'STRANDLINE_TEST_MARIADB_URL';

export const mariadbKind: MysqlKind = {
  kind: 'mariadb',
  name: 'MariaDB',
  urlVariable: mariadbUrlVariable,
  settings: {
    'binlog-format': 'ROW', // MIXED by default
    'gtid-strict-mode': 'ON',
    'log-slave-updates': 'ON', // else a promoted replica's binlog lacks what it has from its source
    'innodb-log-file-size': '64M',
  },
  required: { log_bin: 'ON', binlog_format: 'ROW', binlog_row_metadata: 'FULL' },
  versions: [
    { version: '11.8', debian: { suite: 'trixie', share: 'usr/share/mariadb' } },
    { version: '10.11', debian: { suite: 'bookworm', share: 'usr/share/mysql' } },
  ],
  image: 'mariadb',
  imagePasswordVariable: 'MARIADB_ROOT_PASSWORD',
  local: {
    package: 'mariadb-server-core',
    program: 'usr/sbin/mariadbd',
    binlogTool: { package: 'mariadb-client', program: 'usr/bin/mariadb-binlog' },
    settings: {},
    initialisation: ['--bootstrap', '--innodb-log-file-size=64M'],
    initialStatements,
    identityFile: undefined,
  },
  replication: {
    follow: ({ host, port, user, password }) => [
      `CHANGE MASTER TO MASTER_HOST = ${mysql.escape(host)}, MASTER_PORT = ${String(port)},
        MASTER_USER = ${mysql.escape(user)}, MASTER_PASSWORD = ${mysql.escape(password)},
        MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1`,
      'SET GLOBAL read_only = ON',
      'START SLAVE',
    ],
    executed: 'SELECT @@GLOBAL.gtid_current_pos',
    wait: 'SELECT MASTER_GTID_WAIT(?, ?)',
    promote: ['STOP SLAVE', 'RESET SLAVE ALL', 'SET GLOBAL read_only = OFF'],
  },
};

/**
 * What mariadb-install-db feeds to the server, which itself needs programs of further packages. The help tables and the
 * test database are left out, and of the superuser's accounts all but one: the rest have no password.
 */
async function initialStatements(share: string): Promise<string> {
  const name = path.basename(share); // of the folder and of its files, the older one in older versions
  const scripts = [
    `${name}_system_tables.sql`,
    `${name}_performance_tables.sql`,
    `${name}_system_tables_data.sql`,
    'maria_add_gis_sp_bootstrap.sql',
    `${name}_sys_schema.sql`,
  ];
  const texts = scripts.map((script) => readFile(path.join(share, script), 'utf8'));
  return [
    // The server reads a statement a line here.
    'CREATE DATABASE IF NOT EXISTS mysql;',
    'USE mysql;',
    'SET @auth_root_socket = NULL;',
    ...(await Promise.all(texts)),
    `DELETE FROM mysql.global_priv WHERE User = '' OR (User = 'root' AND Host <> 'localhost');`,
    '',
  ].join('\n');
}

/**
 * A MariaDB for tests: the one that `STRANDLINE_TEST_MARIADB_URL` names, unless the options ask for a server of their
 * own; else a container where a Docker engine answers; else from Debian packages that are unpacked into the project's
 * cache.
 *
 * @throws ServerError `SERVER_UNAVAILABLE` with the reason of each way, `SERVER_START_FAILED` with the log.
 */
export function startMariadb(options: MysqlOptions = {}): Promise<MysqlServer> {
  return startServerOfKind(mariadbKind, options);
}

/** Gets onto this machine what `startMariadb` needs, so that it takes seconds. */
export function prepareMariadb(version?: string): Promise<void> {
  return prepareServerOfKind(mariadbKind, version);
}
