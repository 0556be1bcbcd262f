import { answerOf, fail, pass, warn, type Check, type Verdict } from '@strandline/core';
import type { MysqlFacts } from './facts.js';
import { changeSetting, keepHours } from './service.js';

/** Seconds. A pipeline that stops on a Friday evening is seen on Monday. */
const SHORT = 3 * 86_400;
/** Seconds that are advised. */
const ADVISED = 7 * 86_400;

/** How long the server keeps its binlog. */
export const RETENTION_CHECKS: readonly Check<MysqlFacts>[] = [
  {
    check: 'mysql-binlog-age',
    why: 'The server deletes its binlog by age, whether it was read or not: a pipeline that is further behind stops with MYSQL_PURGED.',
    judge: ageVerdict,
  },
  {
    check: 'mysql-binlog-size',
    why: 'A burst of writes can push out of the binlog what was not read.',
    // MariaDB from 11.4 on can delete by size, too.
    judge: ({ server, service }: MysqlFacts): Verdict | null => {
      const size = server.variables.get('max_binlog_total_size');
      if (size === undefined) return null;
      return size === '0'
        ? pass('no limit by size')
        : warn(
            `max_binlog_total_size ${size} bytes`,
            changeSetting({ service, flavour: server.flavour }, 'max_binlog_total_size', '0'),
          );
    },
  },
  {
    check: 'mysql-offset',
    why: 'The pipeline goes on from its offset: the log must have all that follows.',
    judge: ({ reach, offset }: MysqlFacts): Verdict | null => {
      if (offset === null) return null;
      if ('code' in reach) return fail(`${reach.code}: ${reach.problem}`, reach.remedy);
      answerOf(reach);
      return pass('the log has all that follows it');
    },
  },
  {
    check: 'mysql-start',
    why: 'A binlog knows nothing of its readers: an offset that is lost looks like a first run, and `start` decides what that means.',
    judge: startVerdict,
  },
];

function ageVerdict({ server, service, keptHours, lag }: MysqlFacts): Verdict {
  const isOfService = keepHours(service, 0) !== null;
  const hours = isOfService ? answerOf(keptHours) : null;
  const kept = isOfService ? (hours ?? 0) * 3_600 : keptFor(server.variables);
  const behind = lag === null ? '' : `; the pipeline is ${daysText(lag)} behind`;
  if (kept === null) return pass(`the binlog is kept until somebody deletes it, so watch the disk${behind}`);
  const found =
    isOfService && hours === null
      ? `'binlog retention hours' is not set: the service deletes its binlog as soon as it can${behind}`
      : `the binlog is kept for ${daysText(kept)}${behind}`;
  const advised = Math.max(ADVISED, Math.ceil((lag ?? 0) * 3));
  const remedy =
    keepHours(service, advised) ??
    changeSetting({ service, flavour: server.flavour }, 'binlog_expire_logs_seconds', String(advised));
  if (kept === 0 || (lag !== null && lag >= kept)) return fail(found, remedy);
  return kept < SHORT || (lag !== null && lag >= kept / 2) ? warn(found, remedy) : pass(found);
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

function startVerdict({ config: { start }, offset }: MysqlFacts): Verdict {
  if (offset !== null) {
    return start === 'now'
      ? warn(
          "there is an offset, and start: 'now' is left in: should the offset be lost, what commits until the next start is left out",
          "Take start: 'now' out of mysql({ … }).",
        )
      : pass('there is an offset');
  }
  return start === null
    ? fail(
        'there is no offset, and mysql({ … }) has no start',
        "For the first start: mysql({ start: 'now' }), 'earliest' or 'snapshot'. If it ran before, put its offset back: strandline offsets import, or offsets set.",
      )
    : pass(`the first start begins with '${start}'`);
}

function daysText(seconds: number): string {
  if (seconds < 3_600) return `${String(Math.round(seconds))} s`;
  return seconds < 86_400 ? `${(seconds / 3_600).toFixed(1)} h` : `${(seconds / 86_400).toFixed(1)} d`;
}
