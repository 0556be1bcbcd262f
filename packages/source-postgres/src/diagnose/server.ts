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
import { OLDEST_VERSION } from '../server.js';
import { namesEveryone } from '../synchronous-names.js';
import type { PostgresFacts } from './facts.js';
import { changeSetting, directAddress, grantReplication, isPoolerHost, logicalLog } from './service.js';

export const SERVER_CHECKS: readonly Check<PostgresFacts>[] = [
  {
    check: 'postgres-version',
    why: 'Logical messages, publish_via_partition_root and pg_current_snapshot are all there from 14 on.',
    judge: ({ server: { version, versionText }, service }: PostgresFacts): Verdict | null =>
      version >= OLDEST_VERSION
        ? pass(`PostgreSQL ${versionText}${service === null ? '' : ` (${service})`}`)
        : fail(`PostgreSQL ${versionText}`, 'Upgrade the server to PostgreSQL 14 or newer.'),
  },
  {
    check: 'postgres-primary',
    why: 'A standby can neither create a publication nor show when a transaction becomes visible.',
    judge: ({ server }: PostgresFacts): Verdict | null =>
      server.inRecovery
        ? fail(`${server.host} is a standby in recovery`, 'Connect to the primary (the writer endpoint).')
        : pass('a primary'),
  },
  {
    check: 'postgres-pooler',
    why: 'Replication needs a session with the server itself, as long as the pipeline runs.',
    judge: ({ server: { host, port }, replication, service }: PostgresFacts): Verdict | null => {
      if (isPoolerHost(host, port))
        return fail(`${host}:${String(port)} is a pooler`, directAddress(service));
      if ('code' in replication && replication.code === 'PG_POOLER')
        return fail(replication.problem, directAddress(service));
      return pass('no pooler in between');
    },
  },
  {
    check: 'postgres-wal-level',
    why: 'Only a logical log says which rows were inserted.',
    judge: ({ server, service }: PostgresFacts): Verdict | null => {
      const level = server.settings.get('wal_level') ?? '?';
      return level === 'logical'
        ? pass('wal_level logical')
        : fail(`wal_level ${level}`, logicalLog(service));
    },
  },
  {
    check: 'postgres-encoding',
    why: 'Text goes over the wire as UTF-8: what other encodings hold may have no place in it.',
    judge: ({ server: { encoding } }: PostgresFacts): Verdict | null =>
      encoding === 'UTF8'
        ? pass('encoding UTF8')
        : warn(
            `encoding ${encoding}`,
            encoding === 'SQL_ASCII'
              ? "Bytes that are no UTF-8 stop the stream. Move to a database made with: create database … encoding 'UTF8' template template0;"
              : "The server converts each value. To be rid of that: create database … encoding 'UTF8' template template0;",
          ),
  },
  {
    check: 'postgres-replication',
    why: 'The log is read over the replication protocol, which takes a right of its own.',
    judge: ({ replication, server: { role }, service }: PostgresFacts): Verdict | null => {
      if (!('code' in replication)) return answered(answerOf(replication).system, role);
      const { code, problem, remedy } = replication;
      if (code === 'PG_POOLER') return null;
      return fail(`${code}: ${problem}`, code === 'PG_PRIVILEGE' ? grantReplication(service, role) : remedy);
    },
  },
  {
    check: 'postgres-clock',
    why: CLOCK_WHY,
    judge: ({ server }: PostgresFacts): Verdict | null => clockVerdict(server.clock),
  },
  {
    check: 'postgres-session-limits',
    why: 'Limits of the database or the role would end the start snapshot and the sessions of the pipeline, which sets them off for itself.',
    judge: sessionLimits,
  },
  {
    check: 'postgres-wal-sender-timeout',
    why: 'After so long the server believes that a silent reader is gone, and only then a standby takes over.',
    judge: walSenderTimeout,
  },
  {
    check: 'postgres-synchronous',
    why: 'A reader of the log that counts as a synchronous standby has commits wait for their own events: the pipeline refuses to (PG_SYNC_STANDBY).',
    judge: ({ server, service }: PostgresFacts): Verdict | null => {
      const names = server.settings.get('synchronous_standby_names') ?? '';
      const found = `synchronous_standby_names ${names === '' ? 'is empty' : names}`;
      return namesEveryone(names)
        ? fail(found, changeSetting(service, 'synchronous_standby_names', '<names of the real standbys>'))
        : pass(found);
    },
  },
];

function answered(system: string, role: string): Verdict {
  return pass(`${role} may replicate (system ${system})`);
}

const LIMITS = [
  ...['statement_timeout', 'lock_timeout', 'idle_session_timeout'],
  ...['idle_in_transaction_session_timeout', 'transaction_timeout'],
] as const;

function sessionLimits({ server: { settings } }: PostgresFacts): Verdict {
  const set = LIMITS.filter((name) => (settings.get(name) ?? '0') !== '0');
  if (set.length === 0) return pass('sessions of the pipeline have no time limit');
  return warn(
    `sessions of the pipeline have ${set.map((name) => `${name} ${settings.get(name) ?? ''}`).join(', ')}`,
    'Connect without what takes the startup options away (a proxy, `ignore_startup_parameters = options` of PgBouncer), or give the pipeline a role of its own: ' +
      set.map((name) => `alter role <user> set ${name} = 0;`).join(' '),
  );
}

function walSenderTimeout({ replication, config }: PostgresFacts): Verdict | null {
  if ('code' in replication) return null;
  const { walSenderTimeout: timeout } = answerOf(replication);
  const remedy =
    'Leave wal_sender_timeout out of the options of the connection: the pipeline sets it to twice its silenceTimeout.';
  if (timeout === 0) return warn('wal_sender_timeout 0: a reader that is gone keeps the slot', remedy);
  const found = `wal_sender_timeout ${String(timeout)} ms, silenceTimeout ${String(config.silenceTimeout)} ms`;
  return timeout < config.silenceTimeout ? warn(found, remedy) : pass(found);
}
