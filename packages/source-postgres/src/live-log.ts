import { StrandlineError, type Logger } from '@strandline/core';
import type pg from 'pg';
import { isTransient } from './connect-errors.js';
import { endClient, socketOf } from './connection.js';
import { Decoder, type DecoderSink, type ResumePoint } from './decoder.js';
import { postgresError } from './errors.js';
import { publicationChanged } from './identity.js';
import type { Lsn } from './lsn.js';
import { tableRenamed } from './outbox-table.js';
import type { PostgresPending } from './pending.js';
import { logPosition } from './position.js';
import { ReplicationConnection, type SessionSlot } from './replication-connection.js';
import type { HeldLog } from './retention/held-log.js';
import { decoderOptions, type Session, type SessionRequest } from './session.js';
import { namesEveryone } from './synchronous-names.js';
import { VisibilityGate } from './visibility-gate.js';
import { walFacts } from './wal-facts.js';

/**
 * Milliseconds between our status messages. Each asks for a keepalive, which tells that the server lives and
 * how far it has read: so an idle outbox confirms the log that other tables have written.
 */
const STATUS_EVERY = 2_000;
/** Milliseconds between checks that the server still has what the stream started with. */
const SERVER_EVERY = 10_000;

export interface LiveLogOptions {
  readonly request: SessionRequest;
  readonly resume: ResumePoint;
  /** The pipeline's, unless it is another. */
  readonly slot?: SessionSlot;
  /** What may be released of the log; not before the slot's own mark, which must only move forward. */
  readonly confirmed: Lsn;
  /** Where the decoded events go; it tells when the socket has to be paused. */
  readonly pending: PostgresPending;
  /** What is kept of the settled log. Without it what is confirmed is released at once. */
  readonly held?: HeldLog | null;
  /** What stands before `pending`, if anything does. */
  readonly sink?: DecoderSink;
}

/** Why a live log ended. */
export interface Failure {
  readonly error: unknown;
}

/**
 * One connected stretch of the log: an SQL session, a replication session that owns the slot, and a decoder.
 * When one of the two sessions breaks, both go: a server that shuts down ends SQL sessions first and then
 * waits for readers of its log, so holding on to ours would hold the shutdown up.
 */
export class LiveLog {
  readonly session: Session;
  readonly gate: VisibilityGate;
  readonly #decoder: Decoder;
  readonly #replication: ReplicationConnection;
  readonly #options: LiveLogOptions;
  readonly #log: Logger;
  #statusTimer: NodeJS.Timeout | undefined;
  #serverTimer: NodeJS.Timeout | undefined;
  #failure: Failure | null = null;
  #paused = false;
  #closing = false;
  #measuring = false;
  #onBroken: (error: unknown) => void = () => undefined;
  #walEnd: Lsn = 0n;
  #confirmed: Lsn;

  private constructor(session: Session, options: LiveLogOptions) {
    this.session = session;
    this.#options = options;
    this.#log = options.request.log;
    this.#confirmed = options.confirmed;
    this.gate = new VisibilityGate(session.sql);
    this.#decoder = new Decoder(
      decoderOptions(session, options.request.config),
      options.sink ?? options.pending,
      options.resume,
    );
    this.#replication = new ReplicationConnection(options.request.connector, {
      message: (buffer, at) => {
        this.#decoder.decode(buffer, at);
        if (options.pending.full) this.pause();
      },
      keepalive: (walEnd) => {
        this.#walEnd = walEnd;
        this.#decoder.keepalive(walEnd);
      },
      ended: (error) => {
        this.#failure = { error };
        options.pending.wake();
        // Whoever waits for an answer on the other session must not wait for a server that is out of reach. After a
        // row that can't be an event it is still needed: what came before is handed over once others can see it.
        if (this.#closing || !isTransient(error)) return;
        socketOf(session.sql).destroy();
        this.#onBroken(error);
      },
    });
    session.sql.on('error', (error) => {
      this.#replication.fail(error);
    });
    session.sql.on('end', () => {
      this.#replication.fail(new Error('Connection terminated by the server'));
    });
  }

  /**
   * Starts streaming over a session that was opened before. Rejects, and ends the session, with the server's
   * error; SQLSTATE 55006 says that another process reads the slot.
   */
  static async start(session: Session, options: LiveLogOptions): Promise<LiveLog> {
    const live = new LiveLog(session, options);
    try {
      await live.#start();
      return live;
    } catch (error) {
      await live.close();
      throw error;
    }
  }

  /** Set once the connection has broken or the log can't be decoded; `pending` is woken then. */
  get failure(): Failure | null {
    return this.#failure;
  }

  /** Told once when the connection is gone, and the slot with it; not for what the log itself holds, nor after `close`. */
  onBroken(listener: (error: unknown) => void): void {
    this.#onBroken = listener;
    if (this.#failure !== null && isTransient(this.#failure.error)) listener(this.#failure.error);
  }

  get sql(): pg.Client {
    return this.session.sql;
  }

  get resumePoint(): ResumePoint {
    return this.#decoder.resumePoint;
  }

  /** The last LSN that was confirmed, or is to be. */
  get confirmed(): Lsn {
    return this.#confirmed;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Bytes of log that was not decoded here yet, as last measured. */
  get lagBytes(): number {
    const { lsn } = this.#decoder.resumePoint;
    return this.#walEnd > lsn ? Number(this.#walEnd - lsn) : 0;
  }

  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#replication.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#replication.resume();
  }

  confirm(lsn: Lsn): void {
    if (lsn > this.#confirmed) this.#confirmed = lsn;
    this.#replication.confirm(this.#confirmed, false);
  }

  /** Whether the server says, asked now, that the slot is this connection's. */
  async ownsSlot(): Promise<boolean> {
    const { rows } = await this.sql.query<{ holder: number | null }>(
      'select active_pid as holder from pg_replication_slots where slot_name = $1',
      [this.#options.request.slot],
    );
    return rows[0]?.holder === this.#replication.serverProcess;
  }

  /** This connection is given up. */
  fail(error: Error): void {
    if (!this.#closing) this.#replication.fail(error);
  }

  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#statusTimer);
    clearInterval(this.#serverTimer);
    await this.#replication.close();
    await endClient(this.sql);
  }

  async #start(): Promise<void> {
    const { request, resume, slot = request.slot } = this.#options;
    await this.#replication.start({
      slot,
      publication: request.publication,
      messages: request.config.messages !== null,
      start: resume.lsn,
      confirmed: this.#confirmed,
      deadline: request.config.silenceTimeout,
    });
    await this.#refuseSynchronous();
    const timeout = this.session.server.walSenderTimeout;
    const { silenceTimeout } = request.config;
    const every = Math.min(STATUS_EVERY, silenceTimeout / 4, ...(timeout > 0 ? [timeout / 3] : []));
    this.#statusTimer = setInterval(() => {
      this.#beat();
    }, every);
    this.#serverTimer = setInterval(() => {
      void this.#checkServer();
    }, SERVER_EVERY);
  }

  /** The end of the log, which keepalives tell too, but none is read during a backlog; and what may be released of it. */
  async #measure(): Promise<void> {
    if (this.#measuring) return;
    this.#measuring = true;
    try {
      const { request, held } = this.#options;
      const facts = await walFacts(this.sql, request.slot);
      if (facts.walEnd > this.#walEnd) this.#walEnd = facts.walEnd;
      if (held !== undefined && held !== null && !this.#closing) this.confirm(held.release(facts));
    } catch (error) {
      // The session's end says so itself. A missing answer doesn't, and while the stream is paused nothing else would.
      if (isOverdue(error) && !this.#closing)
        this.#replication.fail(new Error('Connection terminated: no answer from the server'));
    }
    this.#measuring = false;
  }

  /** Also while paused: the server reads our replies even when it can't send, and hangs up without them. */
  #beat(): void {
    this.#replication.confirm(this.#confirmed, !this.#paused);
    void this.#measure();
    if (this.#paused || this.#replication.silence < this.#options.request.config.silenceTimeout) return;
    const silence = Math.round(this.#replication.silence);
    this.#log.warn({ silence }, 'no word from the server: giving this connection up');
    this.#replication.fail(
      new Error(`Connection terminated: no word from the server for ${String(silence)} ms`),
    );
  }

  /** What an operator may have changed since the start, and no message of the log would tell. */
  async #checkServer(): Promise<void> {
    try {
      await this.#refuseSynchronous();
      await this.#refuseChange();
    } catch (error) {
      // The end of the session says so itself.
      if (!(error instanceof StrandlineError)) return;
      this.#replication.fail(error);
      // What was decoded is handed over once others can see it, and now that may be never: it is read again later.
      if (error.code === 'PG_SYNC_STANDBY') socketOf(this.sql).destroy();
    }
  }

  /**
   * Newer servers skip a missing publication with a warning that only their own log shows, and every server
   * silently leaves out a table that was taken out of it. A table that was given another name stays in it.
   */
  async #refuseChange(): Promise<void> {
    const { request } = this.#options;
    const { table, identity, sql } = this.session;
    const { rows } = await sql.query<{ publishes: boolean; contains: boolean; taken: boolean; name: string }>(
      `select exists (select from pg_publication where oid = $1::oid and pubname = $2 and pubinsert) as publishes,
              exists (select from pg_publication_tables
                      where pubname = $2 and schemaname || '.' || tablename = $3)
                and coalesce((select oid::int8::text from pg_publication_rel
                              where prpubid = $1::oid and prrelid = $5::oid), '') = $6 as contains,
              to_regclass($4) is not null as taken,
              (select n.nspname || '.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where c.oid = $5::oid) as name`,
      [
        ...[identity.publication, request.publication, table?.name, table?.sqlName, table?.oid],
        identity.membership,
      ],
    );
    const { publishes = true, contains = true, taken = true, name = null } = rows[0] ?? {};
    if (publishes && (contains || table === null)) return;
    const { lsn, ordinal } = this.resumePoint;
    const position = logPosition(lsn, ordinal);
    // Where the old name is another table's now, rows of that one were not in the stream.
    if (publishes && !taken && name !== null && table !== null)
      throw tableRenamed(table.name, name, position);
    throw publicationChanged(request.slot, position);
  }

  /**
   * With synchronous_standby_names = '*' the server would count this reader as a synchronous standby: every
   * commit would wait until its own events are handled, and visibility: 'committed' for the commit.
   */
  async #refuseSynchronous(): Promise<void> {
    // By the setting: what pg_stat_replication says of a reader that has only just begun is not final, and hidden
    // without pg_read_all_stats.
    const { rows } = await this.sql.query<{ names: string }>(
      `select current_setting('synchronous_standby_names') as names`,
    );
    const names = rows[0]?.names ?? '';
    if (!namesEveryone(names)) return;
    throw postgresError(
      'PG_SYNC_STANDBY',
      `The server counts this reader as a synchronous standby (synchronous_standby_names = ${names}): commits would wait for their own events to be handled.`,
      "List the real standbys in synchronous_standby_names, instead of '*'.",
    );
  }
}

/** What pg says when an answer is not there in time (`query_timeout`). */
function isOverdue(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}
