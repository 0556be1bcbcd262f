import { StrandlineError } from '@strandline/core';
import pg from 'pg';
import {
  endClient,
  NO_TRANSACTION_LIMIT,
  rawConnection,
  serverProcessOf,
  type Connector,
} from './connection.js';
import { Deadline } from './deadline.js';
import { postgresError } from './errors.js';
import { formatLsn, type Lsn } from './lsn.js';
import { quoteName, quoteText } from './quote.js';
import { standbyStatus } from './standby-status.js';
import { StreamStatement } from './stream-statement.js';

/** What the owner of the connection hears, synchronously and in stream order. */
export interface ReplicationListener {
  /** One pgoutput message, from `at` to the buffer's end, which is valid only during the call. A throw ends the connection. */
  message(buffer: Buffer, at: number): void;
  keepalive(walEnd: Lsn): void;
  /** The session has ended, whatever ended it. Called once. */
  ended(error: unknown): void;
}

/** A slot that lives as long as the session that reads it. */
export interface SessionSlot {
  readonly name: string;
  /** Makes it, on that session. The deadline of the start does not count meanwhile. */
  make(client: pg.Client): Promise<void>;
}

export interface StreamOptions {
  /** The name of one that is there, or one that is made first. */
  readonly slot: string | SessionSlot;
  readonly publication: string;
  readonly messages: boolean;
  readonly start: Lsn;
  readonly confirmed: Lsn;
  /** Milliseconds that the server may take to start the stream. */
  readonly deadline: number;
}

// What the server sends in CopyData (https://www.postgresql.org/docs/current/protocol-replication.html).
const XLOG_DATA = 0x77; // w
/** Its type, where its data begins in the log, where the log ends, and a time: the data comes behind. */
const XLOG_DATA_HEADER = 1 + 8 + 8 + 8;
const KEEPALIVE = 0x6b; // k
/** Its type, where the log ends, a time, and whether a reply is asked for. */
const KEEPALIVE_LENGTH = 1 + 8 + 8 + 1;

/**
 * One session of the streaming replication protocol. From pg come the session and the framing of its messages; each
 * goes to the decoder in one call, without a copy or a promise in between.
 */
export class ReplicationConnection {
  readonly #connector: Connector;
  readonly #listener: ReplicationListener;
  #client: pg.Client | null = null;
  #ending = false;
  #ended = false;
  #flushed: Lsn = 0n;
  #heardAt: number = performance.now();

  constructor(connector: Connector, listener: ReplicationListener) {
    this.#connector = connector;
    this.#listener = listener;
  }

  /** Starts streaming; resolves once the server does, and the slot is ours. Rejects with the server's error. */
  async start(options: StreamOptions): Promise<void> {
    this.#flushed = options.confirmed;
    const deadline = new Deadline(options.deadline, () => {
      const error = new Error('Connection terminated: the server did not start the stream in time');
      this.fail(error);
      return error;
    });
    deadline.start();
    try {
      await Promise.race([this.#start(options, deadline), deadline.passed]);
    } catch (error) {
      this.#end(error);
      throw error;
    } finally {
      deadline.stop();
    }
    this.#heardAt = performance.now();
  }

  /** Stops reading. The server waits once the buffers between are full; its replies are read all the same. */
  pause(): void {
    if (this.#client !== null) rawConnection(this.#client).stream.pause();
  }

  resume(): void {
    // The silence while paused was ours.
    this.#heardAt = performance.now();
    if (this.#client !== null) rawConnection(this.#client).stream.resume();
  }

  /** The process of the server that serves this session; null before there is one. */
  get serverProcess(): number | null {
    return this.#client === null ? null : serverProcessOf(this.#client);
  }

  /** Milliseconds since the server last said anything. */
  get silence(): number {
    return performance.now() - this.#heardAt;
  }

  /** Tells the server that everything that committed before `flushed` is done and saved. */
  confirm(flushed: Lsn, requestReply: boolean): void {
    if (flushed > this.#flushed) this.#flushed = flushed;
    this.#sendStatus(requestReply);
  }

  /** Sends the last status and ends the session; without waiting long for a server that does not answer. */
  async close(): Promise<void> {
    if (this.#ending) return;
    this.#sendStatus(false);
    this.#ending = true;
    if (this.#client === null) return;
    // A paused socket would never see the server's end.
    rawConnection(this.#client).stream.resume();
    await endClient(this.#client);
    this.#end(new Error('Connection closed'));
  }

  async #start(options: StreamOptions, deadline: Deadline): Promise<void> {
    const client = await this.#connect();
    await client.query(NO_TRANSACTION_LIMIT);
    const { slot } = options;
    if (typeof slot !== 'string') {
      deadline.stop();
      await slot.make(client);
      deadline.start();
    }
    const connection = rawConnection(client);
    // Once per read of the socket: a clock per message would cost as much as decoding it.
    connection.stream.on('data', () => {
      this.#heardAt = performance.now();
    });
    const started = new Promise<void>((resolve) => {
      connection.once('replicationStart', resolve);
    });
    const statement = client.query(
      new StreamStatement(startReplication(options), (chunk) => {
        this.#onCopyData(chunk);
      }),
    );
    // An end without an error is a failure too.
    const over = statement.over.then(() => {
      throw new Error('Connection terminated by the server');
    });
    over.catch((error: unknown) => {
      this.#end(error);
    });
    await Promise.race([started, over]);
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#connector.replicationConfig);
    client.on('error', (error) => {
      this.#end(error);
    });
    try {
      await client.connect();
    } catch (error) {
      void endClient(client);
      throw error;
    }
    this.#client = client;
    // It was given up while this session was being opened: nobody will close it, and it would hold the slot.
    if (this.#ending) rawConnection(client).stream.destroy();
    return client;
  }

  #onCopyData(chunk: Buffer): void {
    if (this.#ending) return;
    try {
      if (chunk[0] === XLOG_DATA) this.#listener.message(chunk, XLOG_DATA_HEADER);
      else if (chunk[0] === KEEPALIVE && chunk.length === KEEPALIVE_LENGTH) this.#onKeepalive(chunk);
      else throw new Error(`a message of type ${String(chunk[0])} and ${String(chunk.length)} bytes`);
    } catch (error) {
      // It would leave the socket's callback as an uncaught exception.
      this.fail(error instanceof StrandlineError ? error : undecodable(error));
    }
  }

  #onKeepalive(chunk: Buffer): void {
    this.#listener.keepalive(chunk.readBigUInt64BE(1));
    if (chunk[KEEPALIVE_LENGTH - 1] !== 0) this.#sendStatus(false);
  }

  /** Ends the session without a word: what comes after the failure must not be read, nor confirmed. */
  fail(error: unknown): void {
    this.#ending = true;
    this.#end(error);
    if (this.#client !== null) rawConnection(this.#client).stream.destroy();
  }

  #end(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#listener.ended(error);
  }

  #sendStatus(requestReply: boolean): void {
    const client = this.#client;
    if (client === null || this.#ending) return;
    const connection = rawConnection(client);
    if (!connection.stream.writable) return;
    connection.sendCopyFromChunk(standbyStatus(this.#flushed, requestReply, Date.now()));
  }
}

/** Protocol 1 sends a transaction once it has committed, as a whole. */
function startReplication({ slot, publication, messages, start }: StreamOptions): string {
  const options = [
    "proto_version '1'",
    `publication_names ${quoteText(quoteName(publication))}`,
    ...(messages ? ["messages 'true'"] : []),
  ];
  const name = quoteName(typeof slot === 'string' ? slot : slot.name);
  return `START_REPLICATION SLOT ${name} LOGICAL ${formatLsn(start)} (${options.join(', ')})`;
}

function undecodable(cause: unknown): Error {
  return postgresError(
    'PG_PROTOCOL',
    'A replication message could not be decoded.',
    'The stream stopped before it. Check for a proxy between Strandline and the server; the cause says more.',
    { cause },
  );
}
