import type { Socket } from 'node:net';
import ZongJi from '@vlasky/zongji';
import type { Connection, ConnectionOptions } from 'mysql2';
import { EVENT_TYPES, HEADER_LENGTH, type BinlogEvent } from './binlog-events.js';
import { mysqlError } from './errors.js';
import { expandPayload } from './transaction-payload.js';

export interface BinlogListener {
  /** One event, in stream order. A throw ends the connection. */
  event(event: BinlogEvent): void;
  /** An event that only its type tells apart, such as LOAD DATA in statement format. */
  raw(type: number, body: Buffer): void;
  /** The connection has ended, whatever ended it. Called once. */
  ended(error: unknown): void;
}

export interface BinlogStart {
  readonly serverId: number;
  /** A GTID set or position; null to start at file and offset. */
  readonly executed: string | null;
  readonly file: string;
  readonly offset: number;
  readonly schema: string;
  readonly table: string;
  /** Milliseconds between signs of life of an idle server. */
  readonly heartbeat: number;
}

/** What mysql2's connection has beyond its public types, and zongji relies on too. */
interface RawConnection extends Omit<Connection, 'sequenceId' | 'threadId'> {
  readonly stream: Socket;
  sequenceId: number;
  threadId: number | null;
  _paused?: boolean;
  handlePacket(packet?: RawPacket): void;
  pause(): void;
  resume(): void;
}

interface RawPacket {
  sequenceId: number;
  buffer: Buffer;
  start: number;
  offset: number;
  end: number;
  clone(): RawPacket;
}

/** The OK marker before each event. */
const MARKER_LENGTH = 1;
const CHECKSUM_LENGTH = 4;
/** The longest that a paused socket may keep the server waiting, in seconds (a year is the server's own limit). */
const NET_WRITE_TIMEOUT = 31_536_000;

/**
 * One dump of the binlog, over zongji. From the library come the dump command, the framing and the decoding;
 * ours are what it lacks: the first error ends the stream (the library goes on past it), compressed
 * transactions are expanded, heartbeats are asked for before the dump, and silence is measured.
 */
export class BinlogConnection {
  readonly #zongji: ZongJi;
  readonly #listener: BinlogListener;
  #connection: RawConnection | null = null;
  /** Packets of our own making, which the connection's count does not know. */
  readonly #inner = new WeakSet<RawPacket>();
  #ended = false;
  #paused = false;
  #heardAt = performance.now();

  constructor(options: ConnectionOptions, listener: BinlogListener) {
    this.#listener = listener;
    this.#zongji = new ZongJi(options);
    this.#zongji.on('error', (error: unknown) => {
      this.fail(error);
    });
    this.#zongji.on('binlog', (event: BinlogEvent) => {
      this.#onEvent(event);
    });
  }

  /** Starts the dump; resolves once the command is on its way. Errors of the dump itself come to `ended`. */
  async start(start: BinlogStart): Promise<void> {
    const ready = new Promise<void>((resolve) => {
      this.#zongji.once('ready', () => {
        this.#prepare(start);
        resolve();
      });
    });
    this.#zongji.start({
      serverId: start.serverId,
      ...(start.executed === null
        ? { filename: start.file, position: start.offset }
        : { gtidSet: start.executed }),
      includeSchema: { [start.schema]: [start.table] },
      // Changes and removals of outbox rows are no events; decoding them would only cost.
      excludeEvents: ['updaterows', 'deleterows', 'partialupdaterows'],
    });
    await ready;
  }

  /** The server's id of the session, to end it from elsewhere. */
  get threadId(): number | null {
    return this.#connection?.threadId ?? null;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Milliseconds since the server last sent anything. */
  get silence(): number {
    return performance.now() - this.#heardAt;
  }

  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#connection?.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#heardAt = performance.now();
    this.#connection?.resume();
  }

  /** Ends the connection without a word: nothing after the failure is read. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#zongji.stop();
    this.#listener.ended(error);
  }

  close(): void {
    this.fail(new Error('Connection closed'));
  }

  /** Runs before the dump command: queries that are issued in the `ready` event are queued in front of it. */
  #prepare({ heartbeat }: BinlogStart): void {
    const connection = this.#zongji.connection as unknown as RawConnection;
    this.#connection = connection;
    const nanoseconds = String(Math.round(heartbeat * 1e6));
    const setting =
      `set @source_heartbeat_period = ${nanoseconds}, @master_heartbeat_period = ${nanoseconds}, ` +
      `session net_write_timeout = ${String(NET_WRITE_TIMEOUT)}`;
    connection.query(setting, (error: unknown) => {
      if (error !== null && error !== undefined) this.fail(error);
    });
    connection.on('end', () => {
      this.fail(new Error('Connection lost: the server ended the dump'));
    });
    this.#interceptPackets(connection);
    this.#heardAt = performance.now();
  }

  #onEvent(event: BinlogEvent): void {
    if (this.#ended) return;
    try {
      this.#listener.event(event);
      // The library resumes the socket by itself after it has looked a table up.
      if (this.#paused) this.#connection?.pause();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Looks at each packet of the dump before the library does. */
  #interceptPackets(connection: RawConnection): void {
    const handle = connection.handlePacket.bind(connection);
    let dumping = false;
    connection.handlePacket = (packet) => {
      this.#heardAt = performance.now();
      // A paused connection keeps the packet, and it comes here again.
      if (packet === undefined || connection._paused === true || this.#ended) {
        handle(packet);
        return;
      }
      if (this.#inner.has(packet)) connection.sequenceId = packet.sequenceId;
      // Replies to the queries before the dump have the marker too; only an event knows its own length.
      dumping ||= isEvent(packet);
      if (!dumping || packet.buffer[packet.offset] !== 0) {
        handle(packet);
        return;
      }
      try {
        this.#look(packet, handle, connection);
      } catch (error) {
        this.fail(error);
      }
    };
  }

  #look(packet: RawPacket, handle: (packet: RawPacket) => void, connection: RawConnection): void {
    const type = packet.buffer[packet.offset + MARKER_LENGTH + 4] ?? 0;
    if (type === EVENT_TYPES.transactionPayload) {
      this.#expand(packet, handle, connection);
      return;
    }
    if (type === EVENT_TYPES.incident || type === EVENT_TYPES.loadQuery) {
      this.#listener.raw(type, bodyOf(packet, this.#checksum));
    }
    handle(packet);
  }

  /** Hands the events inside of a compressed transaction to the library, one packet each. */
  #expand(packet: RawPacket, handle: (packet: RawPacket) => void, connection: RawConnection): void {
    const nextPosition = packet.buffer.readUInt32LE(packet.offset + MARKER_LENGTH + 13);
    for (const event of expandPayload(bodyOf(packet, this.#checksum))) {
      if (this.#ended) return;
      const inner = packet.clone();
      inner.buffer = wrap(event, nextPosition, this.#checksum);
      inner.start = 0;
      inner.offset = 4;
      inner.end = inner.buffer.length;
      this.#inner.add(inner);
      // The connection counts packets: these all have the number of the one that they came in.
      connection.sequenceId = packet.sequenceId;
      handle(inner);
    }
  }

  get #checksum(): number {
    return (this.#zongji as unknown as { useChecksum: boolean }).useChecksum ? CHECKSUM_LENGTH : 0;
  }
}

function isEvent(packet: RawPacket): boolean {
  const length = packet.end - packet.offset - MARKER_LENGTH;
  return length >= HEADER_LENGTH && packet.buffer.readUInt32LE(packet.offset + MARKER_LENGTH + 9) === length;
}

function bodyOf(packet: RawPacket, checksum: number): Buffer {
  return packet.buffer.subarray(packet.offset + MARKER_LENGTH + HEADER_LENGTH, packet.end - checksum);
}

/** An inner event as a packet: packet header, marker, the event, and room where its checksum would be. */
function wrap(event: Buffer, nextPosition: number, checksum: number): Buffer {
  const packet = Buffer.alloc(4 + MARKER_LENGTH + event.length + checksum);
  event.copy(packet, 4 + MARKER_LENGTH);
  packet.writeUInt32LE(event.length + checksum, 4 + MARKER_LENGTH + 9);
  // Inner events carry no position of their own; the end of the whole is what follows each.
  packet.writeUInt32LE(nextPosition, 4 + MARKER_LENGTH + 13);
  return packet;
}

export function undecodable(cause: unknown): Error {
  return mysqlError(
    'MYSQL_DECODE',
    `An event of the binlog could not be decoded (${cause instanceof Error ? cause.message : String(cause)}).`,
    'The stream stopped before its transaction. Name the column type or setting in the message to the maintainers, or map other columns.',
    { cause },
  );
}
