import type { Socket } from 'node:net';
import pg from 'pg';
import { connectError } from './connect-errors.js';

/** What the `pg` client takes: host, port, user, password, database, ssl, … */
export type ConnectionConfig = pg.ClientConfig;

/**
 * Both connections print values the same way, whatever the server, database or role has set: the key of a row
 * must be one string in the snapshot and in the stream.
 */
const LOSSLESS_SETTINGS = [
  '-c datestyle=ISO,YMD',
  '-c intervalstyle=postgres',
  '-c timezone=UTC',
  '-c extra_float_digits=1',
  '-c bytea_output=hex',
  '-c lc_monetary=C',
  '-c xmlbinary=base64',
].join(' ');

/** Limits that a role or database may have set would end the snapshot, or the session that exports it. */
const NO_LIMITS = [
  '-c statement_timeout=0',
  // Slot creation waits for the transactions that are open, in whatever database.
  '-c lock_timeout=0',
  '-c idle_in_transaction_session_timeout=0',
  '-c idle_session_timeout=0',
].join(' ');

/**
 * The limit that came with version 17, and that older servers refuse to start a session with. It would end the start
 * snapshot, the session that exports it, and the sending of a large transaction to a slow handler.
 */
export const NO_TRANSACTION_LIMIT =
  "select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'";

/** The longest application_name that the server keeps (NAMEDATALEN - 1). */
const NAME_LIMIT = 63;

/** setTimeout takes no more. */
const LONGEST_TIMEOUT = 2_147_483_647;

/** A startup parameter that pg passes on; its type does not know it. */
const REPLICATION = { replication: 'database' } as pg.ClientConfig;

export interface Connector {
  /** `host:port/database`, without credentials. */
  readonly target: string;
  /** How our sessions are called in pg_stat_activity: `strandline/<pipeline>/<instance>`. */
  readonly applicationName: string;
  /** An SQL session. Rejects with a PostgresSourceError. */
  sql(): Promise<pg.Client>;
  /** A session that speaks the replication protocol and simple queries. Rejects with a PostgresSourceError. */
  replication(): Promise<pg.Client>;
  /** The configuration of a session that streams: it answers one statement, for as long as it lives. */
  readonly replicationConfig: pg.ClientConfig;
}

/** The prefix by which sessions of the same pipeline, in any process, are known. */
export function applicationNamePrefix(pipeline: string): string {
  return `strandline/${pipeline}`.slice(0, NAME_LIMIT - 9) + '/';
}

export function createConnector(
  config: ConnectionConfig,
  options: {
    readonly pipeline: string;
    readonly instance: string;
    readonly connectTimeout: number;
    /** Milliseconds until an answer must be there, unless the question is `unhurried`. */
    readonly answerTimeout: number;
  },
): Connector {
  const applicationName = (applicationNamePrefix(options.pipeline) + options.instance).slice(0, NAME_LIMIT);
  const clientConfig: pg.ClientConfig = {
    ...config,
    application_name: applicationName,
    options: [config.options, LOSSLESS_SETTINGS, NO_LIMITS].filter(Boolean).join(' '),
    connectionTimeoutMillis: options.connectTimeout,
    // None for the session whose one statement is the stream.
    query_timeout: 0,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
  const asking = { ...clientConfig, query_timeout: options.answerTimeout };
  const target = describeTarget(config);

  const open = async (session: pg.ClientConfig): Promise<pg.Client> => {
    const client = new pg.Client(session);
    // A connection that breaks while nobody awaits it emits an error; its users see the rejection of the next query.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query(NO_TRANSACTION_LIMIT);
      return client;
    } catch (cause) {
      void client.end().catch(() => undefined);
      throw connectError(cause, target);
    }
  };

  return {
    target,
    applicationName,
    replicationConfig: {
      ...clientConfig,
      ...REPLICATION,
      options: [lease(options.answerTimeout), clientConfig.options].join(' '),
    },
    sql: () => open(asking),
    replication: () => open({ ...asking, ...REPLICATION }),
  };
}

/**
 * A statement that may take as long as it likes: it sorts a table, or waits for transactions or locks of others.
 * All others have `answerTimeout`: a connection can die without a word at any time.
 */
export function unhurried(text: string): pg.QueryConfig {
  // pg takes it for each query; its type does not know it. 0 would mean the session's.
  return { text, query_timeout: LONGEST_TIMEOUT } as pg.QueryConfig;
}

/**
 * How long the server believes in a reader that says nothing: twice as long as the reader believes in a silent server,
 * so that the reader is the first to know. What the connection's own `options` say comes later, and counts.
 */
function lease(silence: number): string {
  return `-c wal_sender_timeout=${String(2 * silence)}`;
}

function describeTarget(config: ConnectionConfig): string {
  const defaults = new pg.Client(config);
  return `${defaults.host}:${String(defaults.port)}/${defaults.database ?? ''}`;
}

/** Ends a session without waiting for a server that may be gone. */
export async function endClient(client: pg.Client): Promise<void> {
  const socket = socketOf(client);
  const ended = client.end().catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, 1_000);
  });
  await Promise.race([ended, deadline]);
  clearTimeout(timer);
  socket.destroy();
}

/** The slice of pg's connection that is needed beyond its public types: the socket, and replies in copy mode. */
export interface RawConnection {
  readonly stream: Socket;
  /** The server has begun to stream (CopyBothResponse). */
  once(event: 'replicationStart', listener: () => void): void;
  sendCopyFromChunk(chunk: Buffer): void;
}

export function rawConnection(client: pg.Client): RawConnection {
  return (client as unknown as { connection: RawConnection }).connection;
}

/** The process of the server that serves a session (BackendKeyData), as `pg_stat_activity` knows it. */
export function serverProcessOf(client: pg.Client): number | null {
  return (client as unknown as { readonly processID: number | null }).processID;
}

export function socketOf(client: pg.Client): Socket {
  return rawConnection(client).stream;
}
