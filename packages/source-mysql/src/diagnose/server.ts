import {
  answerOf,
  CLOCK_WHY,
  clockVerdict,
  fail,
  pass,
  warn,
  type Check,
  type Verdict,
} from '@strandline/core';
import { fitsVersion } from '../server.js';
import type { MysqlFacts } from './facts.js';

export const SERVER_CHECKS: readonly Check<MysqlFacts>[] = [
  {
    check: 'mysql-version',
    why: 'The log is read as MySQL 8.0 to 9.x and MariaDB 10.6 to 11.x write it.',
    judge: ({ server: { flavour, variables }, service }: MysqlFacts): Verdict | null => {
      const version = variables.get('version') ?? '?';
      const name = `${flavour === 'mariadb' ? 'MariaDB' : 'MySQL'} ${version}`;
      return fitsVersion(flavour, version)
        ? pass(`${name}${service === null ? '' : ` (${service})`}`)
        : fail(name, 'Upgrade the server to MySQL 8.0 or MariaDB 10.6, or newer.');
    },
  },
  {
    check: 'mysql-primary',
    why: 'Lag and the place where a failover continues are those of the server that takes the writes.',
    judge: ({ server: { variables, host } }: MysqlFacts): Verdict | null => {
      const isReadOnly = ['read_only', 'super_read_only'].some((name) => variables.get(name) === 'ON');
      return isReadOnly
        ? warn(
            `${host} is read_only: a replica, it seems`,
            'Connect to the primary (the writer endpoint), unless reading a replica is what you want.',
          )
        : pass('it takes writes');
    },
  },
  {
    check: 'mysql-clock',
    why: CLOCK_WHY,
    judge: ({ server }: MysqlFacts): Verdict | null => clockVerdict(server.clock),
  },
  {
    check: 'mysql-session-limits',
    why: 'The pipeline sets these for its sessions. A proxy that keeps them to itself lets the server end a session that waits.',
    judge: sessionLimits,
  },
  {
    check: 'mysql-owner',
    why: 'One process of a pipeline works, the others wait for its lock.',
    judge: ({ owner: asked }: MysqlFacts): Verdict | null => {
      const owner = answerOf(asked);
      if (owner === null) return pass('nobody holds the lock of the pipeline');
      return pass(
        `connection ${String(owner.connection)}${owner.user === null ? '' : ` of ${owner.user}`} holds the lock of the pipeline`,
      );
    },
  },
  {
    check: 'mysql-server-id',
    why: 'Two readers with one server id throw each other out, again and again.',
    judge: serverIdVerdict,
  },
];

function sessionLimits({ server: { session }, config }: MysqlFacts): Verdict {
  const seconds = config.silenceTimeout / 1_000;
  const short = ['wait_timeout', 'net_write_timeout'].filter((name) => Number(session.get(name)) <= seconds);
  const ending = ['max_execution_time', 'max_statement_time'].filter(
    (name) => Number(session.get(name) ?? 0) !== 0 && config.start === 'snapshot',
  );
  const found = [...short, ...ending].map((name) => `${name} ${session.get(name) ?? '?'}`).join(', ');
  if (found === '') return pass(`none ends a session within silenceTimeout (${String(seconds)} s)`);
  return warn(
    `sessions of the pipeline have ${found}`,
    `Connect to the server itself, or set them for it: ${[
      ...short.map((name) => `set global ${name} = 3600;`),
      ...ending.map((name) => `set global ${name} = 0;`),
    ].join(' ')}`,
  );
}

/** Readers that do not register, Strandline's among them, can't be told by their ids. */
function serverIdVerdict({ table, server, replication }: MysqlFacts): Verdict | null {
  if ('code' in table) return null;
  const { serverId } = answerOf(table);
  const { replicas } = answerOf(replication);
  const remedy = `Give this pipeline another one: mysql({ serverId: … }), from 1 to 4294967295.`;
  if (Number(server.variables.get('server_id')) === serverId)
    return fail(`${String(serverId)} is the id of the server itself`, remedy);
  if (replicas?.includes(serverId) === true)
    return fail(`a replica of this server has the id ${String(serverId)}, too`, remedy);
  return pass(`${String(serverId)}, and no replica that has registered has it`);
}
