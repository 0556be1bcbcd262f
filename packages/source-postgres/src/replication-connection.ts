import { StrandlineError } from '@strandline/core';
import type pg from 'pg';
import { LogicalReplicationService } from 'pg-logical-replication';
import { NO_TRANSACTION_LIMIT, rawConnection, serverProcessOf, type Connector } from './connection.js';
import { postgresError } from './errors.js';
import { formatLsn, parseLsn, type Lsn } from './lsn.js';
import { quoteName, quoteText } from './quote.js';
import { standbyStatus } from './standby-status.js';

/** What the owner of the connection hears, synchronously and in stream order. */
export interface ReplicationListener {
  /** One pgoutput message. The buffer is valid only during the call. A throw ends the connection. */
  message(buffer: Buffer): void;
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

/** How long closing may wait for the server to say goodbye, in milliseconds. */
const CLOSE_DEADLINE = 1_000;

/**
 * One session of the streaming replication protocol, over pg-logical-replication. From the library come the
 * session and the framing; ours are the decoding (as its plugin), the status messages (see standby-status.ts),
 * the flow control and the deadline, because its own lose data or hang (each in a comment below).
 */
export class ReplicationConnection {
  readonly #service: LogicalReplicationService;
  readonly #listener: ReplicationListener;
  #client: pg.Client | null = null;
  #ending = false;
  #ended = false;
  #flushed: Lsn = 0n;
  #heardAt: number = performance.now();

  constructor(connector: Connector, listener: ReplicationListener) {
    this.#listener = listener;
    // timeoutSeconds 0: the library's timer acknowledges what was received, not what was saved.
    this.#service = new LogicalReplicationService(connector.replicationConfig, {
      acknowledge: { auto: false, timeoutSeconds: 0 },
      flowControl: { enabled: false },
    });
    this.#service.on('error', (error: unknown) => {
      this.#end(error);
    });
    this.#service.on('heartbeat', (lsn: string, _time: number, replyRequested: boolean) => {
      this.#onKeepalive(lsn, replyRequested);
    });
  }

  /** Starts streaming; resolves once the server does, and the slot is ours. Rejects with the server's error. */
  async start(options: StreamOptions): Promise<void> {
    this.#flushed = options.confirmed;
    const started = new Promise<void>((resolve) => {
      this.#service.once('start', () => {
        resolve();
      });
    });
    const { slot, deadline } = options;
    let timer: NodeJS.Timeout | undefined;
    let count = (): void => undefined;
    const plugin = new StreamPlugin(
      options,
      async (client) => {
        this.#client = client;
        // It failed while this session was being opened: nobody will close it, and it would hold the slot.
        if (this.#ending) rawConnection(client).stream.destroy();
        await client.query(NO_TRANSACTION_LIMIT);
        if (typeof slot === 'string') return;
        clearTimeout(timer);
        await slot.make(client);
        count();
      },
      (buffer) => {
        this.#onMessage(buffer);
      },
    );
    // subscribe() settles only when the session is over: an end without an error is a failure too.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the library asks for the shape only
    const over = this.#service.subscribe(plugin, slotName(slot), formatLsn(options.start)).then(
      () => {
        throw new Error('Connection terminated by the server');
      },
      (error: unknown) => {
        throw error;
      },
    );
    over.catch((error: unknown) => {
      this.#end(error);
    });
    const late = new Promise<never>((_, reject) => {
      count = () => {
        timer = setTimeout(() => {
          const error = new Error('Connection terminated: the server did not start the stream in time');
          this.fail(error);
          reject(error);
        }, deadline);
      };
    });
    count();
    await Promise.race([started, over, late]).finally(() => {
      clearTimeout(timer);
    });
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
    const client = this.#client;
    if (client === null) {
      await this.#service.destroy();
      return;
    }
    const socket = rawConnection(client).stream;
    // A paused socket would never see the server's end.
    socket.resume();
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      this.#service.destroy().catch(() => undefined),
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_DEADLINE);
      }),
    ]);
    clearTimeout(timer);
    socket.destroy();
    this.#end(new Error('Connection closed'));
  }

  #onMessage(buffer: Buffer): void {
    if (this.#ending) return;
    this.#heardAt = performance.now();
    try {
      this.#listener.message(buffer);
    } catch (error) {
      // The library would let it out of the socket's callback as an uncaught exception.
      this.fail(error instanceof StrandlineError ? error : undecodable(error));
    }
  }

  #onKeepalive(lsn: string, replyRequested: boolean): void {
    if (this.#ending) return;
    this.#heardAt = performance.now();
    try {
      const walEnd = parseLsn(lsn);
      if (walEnd !== null) this.#listener.keepalive(walEnd);
    } catch (error) {
      this.fail(error);
      return;
    }
    if (replyRequested) this.#sendStatus(false);
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

/** Our decoder's place in the library: the shape of its AbstractPlugin, which it does not export. */
class StreamPlugin {
  readonly #connected: (client: pg.Client) => Promise<void>;
  readonly #message: (buffer: Buffer) => void;

  constructor(
    readonly options: StreamOptions,
    connected: (client: pg.Client) => Promise<void>,
    message: (buffer: Buffer) => void,
  ) {
    this.#connected = connected;
    this.#message = message;
  }

  readonly name = 'pgoutput';

  async start(client: pg.Client, slotName: string, startLsn: string): Promise<unknown> {
    await this.#connected(client);
    const { publication, messages } = this.options;
    const options = [
      "proto_version '1'",
      `publication_names ${quoteText(quoteName(publication))}`,
      ...(messages ? ["messages 'true'"] : []),
    ];
    return client.query(
      `START_REPLICATION SLOT ${quoteName(slotName)} LOGICAL ${startLsn} (${options.join(', ')})`,
    );
  }

  parse(buffer: Buffer): null {
    this.#message(buffer);
    return null;
  }
}

function slotName(slot: string | SessionSlot): string {
  return typeof slot === 'string' ? slot : slot.name;
}

function undecodable(cause: unknown): Error {
  return postgresError(
    'PG_PROTOCOL',
    'A replication message could not be decoded.',
    'The stream stopped before it. Check for a proxy between Strandline and the server; the cause says more.',
    { cause },
  );
}
