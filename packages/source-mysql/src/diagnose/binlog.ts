import { answerOf, fail, pass, warn, type Check, type Verdict } from '@strandline/core';
import type { MysqlFacts } from './facts.js';
import { changeSetting, switchBinlogOn } from './service.js';

/**
 * How the log is written. Not looked at, since they change nothing for inserts: binlog_row_value_options (partial JSON, of
 * updates only), binlog_transaction_compression (read like any other), binlog_checksum (asked for as it is).
 */
export const BINLOG_CHECKS: readonly Check<MysqlFacts>[] = [
  {
    check: 'mysql-binlog',
    why: 'The binlog is what is read.',
    judge: ({ server, service }: MysqlFacts): Verdict | null =>
      isOn(server.variables.get('log_bin'))
        ? pass('log_bin ON')
        : fail('the server writes no binlog', switchBinlogOn(service)),
  },
  {
    check: 'mysql-binlog-format',
    why: 'Only ROW has the rows. A session can choose another: what it writes to the outbox stops the pipeline (MYSQL_STATEMENT).',
    judge: (facts: MysqlFacts): Verdict | null => setting(facts, 'binlog_format', 'ROW', fail),
  },
  {
    check: 'mysql-row-image',
    why: 'With less than FULL, columns that an insert does not name may be missing.',
    judge: (facts: MysqlFacts): Verdict | null => setting(facts, 'binlog_row_image', 'FULL', fail),
  },
  {
    check: 'mysql-row-metadata',
    why: 'With FULL the log names its columns itself; without, a change of the table in the middle of the log can stop the pipeline.',
    judge: (facts: MysqlFacts): Verdict | null =>
      setting(facts, 'binlog_row_metadata', 'FULL', facts.config.metadata === 'full' ? fail : warn),
  },
  {
    check: 'mysql-gtid',
    why: 'Without GTIDs a position is a file and an offset: it holds on this server only, and after a failover the pipeline can not go on.',
    judge: gtidVerdict,
  },
  {
    check: 'mysql-binlog-filters',
    why: 'Changes of a database that binlog-do-db or binlog-ignore-db leaves out are not in the log.',
    judge: filtersVerdict,
  },
  {
    check: 'mysql-replica-updates',
    why: 'A replica with log_replica_updates = OFF does not log what it replicates.',
    judge: replicaVerdict,
  },
];

function isOn(value: string | undefined): boolean {
  return value === 'ON' || value === '1';
}

function setting(
  { server, service }: MysqlFacts,
  name: string,
  wanted: string,
  otherwise: (found: string, remedy: string) => Verdict,
): Verdict | null {
  const value = server.variables.get(name);
  if (value === undefined) return null;
  const remedy = changeSetting({ service, flavour: server.flavour }, name, wanted);
  return value.toUpperCase() === wanted
    ? pass(`${name} ${value}`)
    : otherwise(
        `${name} ${value}`,
        `${remedy}${service === null ? ' Sessions that are open keep the old value.' : ''}`,
      );
}

function gtidVerdict({ server: { flavour, variables }, service }: MysqlFacts): Verdict {
  if (flavour === 'mariadb') return pass('MariaDB has its GTIDs always');
  const mode = variables.get('gtid_mode') ?? 'OFF';
  if (mode === 'ON') return pass('gtid_mode ON');
  const steps = [
    'set persist enforce_gtid_consistency = on;',
    ...['off_permissive', 'on_permissive', 'on'].map((step) => `set persist gtid_mode = ${step};`),
  ];
  return warn(
    `gtid_mode ${mode}`,
    service === null
      ? `${steps.join(' ')} -- before the first start of the pipeline: positions of files do not become GTIDs`
      : ['enforce_gtid_consistency', 'gtid_mode']
          .map((name) => changeSetting({ service, flavour }, name, 'ON'))
          .join(' '),
  );
}

function filtersVerdict({ log, table }: MysqlFacts): Verdict | null {
  const status = answerOf(log);
  if (status === null || 'code' in table) return null;
  const { schema } = answerOf(table);
  const { only, without } = status;
  const isLogged = only.length > 0 ? only.includes(schema) : !without.includes(schema);
  if (isLogged) return pass(`changes of ${schema} are logged`);
  return fail(
    only.length > 0
      ? `binlog-do-db names ${only.join(', ')} only, and not ${schema}`
      : `binlog-ignore-db names ${schema}`,
    'Take the database out of the filter in the configuration of the server, and restart it.',
  );
}

function replicaVerdict({ server: { variables }, replication }: MysqlFacts): Verdict {
  if (['log_replica_updates', 'log_slave_updates'].some((name) => isOn(variables.get(name))))
    return pass('log_replica_updates ON');
  return answerOf(replication).channels === 0
    ? pass('log_replica_updates OFF, and it replicates from nobody')
    : fail(
        'log_replica_updates OFF, and it is a replica',
        'Connect to the primary, or start this server with log_replica_updates (log_slave_updates) = ON.',
      );
}
