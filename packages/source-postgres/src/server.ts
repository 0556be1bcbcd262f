import type pg from 'pg';
import { connectError, errorCodeOf } from './connect-errors.js';
import { endClient, type Connector } from './connection.js';
import { postgresError } from './errors.js';
import { parseLsn, type Lsn } from './lsn.js';

/** What has to be known of a server before its log is read. */
export interface ServerFacts {
  /** Tells one cluster from another; made by initdb, kept by its standbys. */
  readonly systemIdentifier: string;
  /** Grows with each promotion. */
  readonly timeline: number;
  /** server_version_num, such as 180004. */
  readonly version: number;
  readonly walEnd: Lsn;
  /** Milliseconds after which the server hangs up on a silent reader; 0 for never. */
  readonly walSenderTimeout: number;
}

/** pg_current_snapshot, logical messages and publish_via_partition_root are all there from 14 on. */
export const OLDEST_VERSION = 140_000;

/** Checks that a logical log can be read from this server at all, and gathers its facts. */
export async function inspectServer(connector: Connector, sql: pg.Client): Promise<ServerFacts> {
  const { rows } = await sql.query<Record<string, string>>(
    `select current_setting('server_version_num') as version, current_setting('server_version') as version_text,
            current_setting('wal_level') as wal_level, pg_is_in_recovery()::text as in_recovery`,
  );
  const settings = rows[0] ?? {};
  const version = Number(settings['version']);
  const { target } = connector;
  if (version < OLDEST_VERSION) {
    throw postgresError(
      'PG_VERSION',
      `Postgres at ${target} is version ${settings['version_text'] ?? '?'}.`,
      'Strandline needs 14 or newer.',
    );
  }
  if (settings['in_recovery'] === 'true') {
    throw postgresError(
      'PG_READ_ONLY',
      `Postgres at ${target} is a standby in recovery.`,
      'Connect to the primary: a standby can neither create a publication nor show when a transaction becomes visible.',
      // In a failover the address may point at the new primary before it is promoted.
      { transient: true },
    );
  }
  if (settings['wal_level'] !== 'logical') {
    throw postgresError(
      'PG_WAL_LEVEL',
      `Postgres at ${target} has wal_level = ${settings['wal_level'] ?? '?'}.`,
      "Run: alter system set wal_level = 'logical'; and restart the server (managed servers have a parameter such as rds.logical_replication).",
    );
  }
  return { version, ...(await identifySystem(connector)) };
}

/** Asks over the replication protocol, which also proves the right to use it. */
async function identifySystem(connector: Connector): Promise<Omit<ServerFacts, 'version'>> {
  const client = await connector.replication();
  try {
    const { rows } = await client.query<Record<string, string>>('IDENTIFY_SYSTEM');
    const timeout = await client.query<Record<string, string>>('SHOW wal_sender_timeout');
    const system = rows[0] ?? {};
    return {
      systemIdentifier: system['systemid'] ?? '',
      timeline: Number(system['timeline']),
      walEnd: parseLsn(system['xlogpos'] ?? '') ?? 0n,
      walSenderTimeout: parseDuration(timeout.rows[0]?.['wal_sender_timeout'] ?? '0'),
    };
  } catch (cause) {
    throw connectError(cause, connector.target);
  } finally {
    await endClient(client);
  }
}

const UNIT_MILLIS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds of a setting as SHOW prints it: `1min`, `2500ms`, `0`. */
export function parseDuration(text: string): number {
  const match = /^(\d+)([a-z]*)$/.exec(text);
  return match === null ? 0 : Number(match[1]) * (UNIT_MILLIS[match[2] ?? ''] ?? 1);
}

/**
 * Where the server's timelines branched off: the LSN up to which the log of `timeline` is part of today's
 * history, or null when it is not part of it at all.
 */
export async function timelineEnd(
  connector: Connector,
  today: number,
  timeline: number,
): Promise<Lsn | null> {
  const client = await connector.replication();
  try {
    const { rows } = await client.query<{ content: string | Buffer }>(`TIMELINE_HISTORY ${String(today)}`);
    const content = String(rows[0]?.content ?? '');
    // One line per ancestor: its number, where it ended, and a reason.
    for (const line of content.split('\n')) {
      const [number, lsn] = line.trim().split(/\s+/);
      if (Number(number) === timeline) return parseLsn(lsn ?? '');
    }
    return null;
  } catch (cause) {
    if (errorCodeOf(cause) === '58P01') return null;
    throw connectError(cause, connector.target);
  } finally {
    await endClient(client);
  }
}
