import type { DiagnosisRequest, Finding } from '@strandline/core';
import { queryRows } from './connection.js';
import type { Session } from './session.js';

/** Seconds. A pipeline that stops on a Friday evening is seen on Monday. */
const SHORT = 3 * 86_400;
/** Seconds that are advised. */
const ADVISED = 7 * 86_400;

const WHY =
  'The server deletes its binlog by age, whether it was read or not: a pipeline that is further behind stops with MYSQL_PURGED.';

/** How long the server keeps its binlog. */
export async function diagnose(
  sql: Session,
  { lag }: Pick<DiagnosisRequest, 'lag'>,
): Promise<readonly Finding[]> {
  const rows = await queryRows(
    sql,
    `show global variables where variable_name in ('version', 'binlog_expire_logs_seconds', 'expire_logs_days',
      'binlog_expire_logs_auto_purge', 'max_binlog_total_size')`,
  );
  const variables = new Map(
    rows.map((row) => [String(row['Variable_name']).toLowerCase(), String(row['Value'])]),
  );
  return [ageFinding(variables, lag), ...sizeFindings(variables)];
}

function ageFinding(variables: ReadonlyMap<string, string>, lag: number | null): Finding {
  const check = 'mysql-binlog-age';
  const kept = keptFor(variables);
  const behind = lag === null ? '' : `; the pipeline is ${daysText(lag)} behind`;
  if (kept === null) {
    const found = `the binlog is kept until somebody deletes it, so watch the disk${behind}`;
    return { check, result: 'pass', found, why: WHY, remedy: null };
  }
  const lost = lag !== null && lag >= kept;
  const short = kept < SHORT || (lag !== null && lag >= kept / 2);
  return {
    check,
    result: lost ? 'fail' : short ? 'warn' : 'pass',
    found: `the binlog is kept for ${daysText(kept)}${behind}`,
    why: WHY,
    remedy: lost || short ? remedyFor(variables, Math.max(ADVISED, Math.ceil((lag ?? 0) * 3))) : null,
  };
}

/** MariaDB from 11.4 on can delete by size, too. */
function sizeFindings(variables: ReadonlyMap<string, string>): Finding[] {
  const size = variables.get('max_binlog_total_size');
  if (size === undefined) return [];
  const limited = size !== '0';
  return [
    {
      check: 'mysql-binlog-size',
      result: limited ? 'warn' : 'pass',
      found: limited ? `max_binlog_total_size ${size} bytes` : 'no limit by size',
      why: 'A burst of writes can push out of the binlog what was not read.',
      remedy: limited
        ? 'set global max_binlog_total_size = 0; and the same under [mysqld] in the configuration of the server'
        : null,
    },
  ];
}

/** Seconds; null for ever. */
function keptFor(variables: ReadonlyMap<string, string>): number | null {
  if (variables.get('binlog_expire_logs_auto_purge') === 'OFF') return null;
  const seconds = Number(variables.get('binlog_expire_logs_seconds') ?? 0);
  const days = Number(variables.get('expire_logs_days') ?? 0);
  // The older name is still there on MariaDB, where the two are one setting, and on MySQL 8.0, where the newer one counts.
  const kept = seconds > 0 ? seconds : days * 86_400;
  return kept === 0 ? null : kept;
}

function remedyFor(variables: ReadonlyMap<string, string>, seconds: number): string {
  const setting = `binlog_expire_logs_seconds = ${String(seconds)}`;
  return /mariadb/i.test(variables.get('version') ?? '')
    ? `set global ${setting}; and the same under [mysqld] in the configuration of the server`
    : `set persist ${setting};`;
}

function daysText(seconds: number): string {
  if (seconds < 3_600) return `${String(Math.round(seconds))} s`;
  return seconds < 86_400 ? `${(seconds / 3_600).toFixed(1)} h` : `${(seconds / 86_400).toFixed(1)} d`;
}
