import type { Socket } from 'node:net';
import ZongJi from '@vlasky/zongji';
import type { Connection, ConnectionOptions } from 'mysql2';
import type { BinlogEvent } from './binlog-events.js';
import { DumpReader, type PacketLibrary } from './dump-reader.js';
import { isEvent, type RawPacket } from './raw-packet.js';

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
  /** Milliseconds without any after which the connection is given up; not while it is paused. */
  readonly silenceTimeout: number;
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

/** What zongji has beyond its public types. */
interface RawZongji {
  readonly useChecksum: boolean;
  readonly tableMap: Record<number, unknown>;
  /** What it keeps of GTIDs: these are kept here, and what it does with them at each transaction would only cost. */
  _executedGtids: unknown;
  _seedGtidsFromStream: boolean;
  /** Names of the event classes of which it has said that it can't decode them. */
  readonly _warnedUnsupported: Set<string>;
}

const EOF_MARKER = 0xfe;
const EOF_LENGTH = 9;
const CHECKSUM_LENGTH = 4;
/** The longest that a paused socket may keep the server waiting, in seconds (a year is the server's own limit). */
const NET_WRITE_TIMEOUT = 31_536_000;

/**
 * One dump of the binlog, over zongji. From the library come the dump command, the framing and the decoding;
 * ours are what it lacks: the first error ends the stream (the library goes on past it), compressed
 * transactions are expanded, each log file's own checksum is heeded, heartbeats are asked for before the dump,
 * and silence is measured.
 */
export class BinlogConnection {
  readonly #zongji: ZongJi;
  readonly #listener: BinlogListener;
  #connection: RawConnection | null = null;
  /** Pauses or resumes the socket as the two below ask for. */
  #setFlow: () => void = () => undefined;
  /** The consumer has enough. */
  #paused = false;
  /** The library looks a table up. Packets that came meanwhile would be lost on it. */
  #lookingUp = false;
  #reader: DumpReader | null = null;
  #ended = false;
  /** Something came since the silence was last asked for: each packet looking at the clock would cost. */
  #heard = false;
  #hasBegun = false;
  #begun: () => void = () => undefined;
  #failed: (error: unknown) => void = () => undefined;
  #heardAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ConnectionOptions, listener: BinlogListener) {
    this.#listener = listener;
    this.#zongji = new ZongJi(options);
    // Changes of outbox rows are no events: that the library can't decode some of them loses nothing.
    this.#raw._warnedUnsupported.add('PartialUpdateRows');
    this.#zongji.on('error', (error: unknown) => {
      this.fail(error);
    });
    this.#zongji.on('binlog', (event: BinlogEvent) => {
      this.#reader?.event(event);
    });
  }

  /**
   * Starts the dump; resolves once the server has described the first file of it, which it does at once. Rejects with
   * the server's error when it refuses, or with that of the connection, be it that no word comes.
   */
  async start(start: BinlogStart): Promise<void> {
    if (this.#ended) throw new Error('Connection closed');
    const begun = new Promise<void>((resolve, reject) => {
      this.#begun = resolve;
      this.#failed = reject;
    });
    this.#zongji.once('ready', () => {
      this.#prepare(start);
    });
    this.#timer = setInterval(() => {
      this.#checkSilence(start.silenceTimeout);
    }, start.silenceTimeout / 4);
    this.#zongji.start({
      serverId: start.serverId,
      ...(start.executed === null
        ? { filename: start.file, position: start.offset }
        : { gtidSet: start.executed }),
      includeSchema: { [start.schema]: [start.table] },
      // Changes and removals of outbox rows are no events; decoding them would only cost.
      excludeEvents: ['updaterows', 'deleterows', 'partialupdaterows'],
    });
    await begun;
  }

  /** The server's id of the session, to end it from elsewhere. */
  get threadId(): number | null {
    return this.#connection?.threadId ?? null;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Bytes of events that came so far. */
  get read(): number {
    return this.#reader?.bytes ?? 0;
  }

  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    if (this.#hasBegun) this.#setFlow();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#heardAt = performance.now();
    if (this.#hasBegun) this.#setFlow();
  }

  /** Ends the connection without a word: nothing after the failure is read. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    this.#zongji.stop();
    this.#listener.ended(error);
    this.#failed(error);
  }

  close(): void {
    this.fail(new Error('Connection closed'));
  }

  /** Asked now and then: what was heard may have come at any time since the last look. */
  #checkSilence(silenceTimeout: number): void {
    const now = performance.now();
    if (this.#heard) this.#heardAt = now;
    this.#heard = false;
    // The silence while paused is ours. A pause takes effect only once the dump has begun.
    if (this.#paused && this.#hasBegun) return;
    const silence = now - this.#heardAt;
    if (silence < silenceTimeout) return;
    this.fail(new Error(`Connection lost: no word from the server for ${String(Math.round(silence))} ms`));
  }

  /** The server has accepted the dump. What it sends next may have to wait. */
  #begin(): void {
    if (this.#ended || this.#hasBegun) return;
    this.#hasBegun = true;
    this.#begun();
    if (this.#paused) this.#setFlow();
  }

  get #raw(): RawZongji {
    return this.#zongji as unknown as RawZongji;
  }

  /** Runs before the dump command: queries that are issued in the `ready` event are queued in front of it. */
  #prepare({ heartbeat }: BinlogStart): void {
    const connection = this.#zongji.connection as unknown as RawConnection;
    this.#connection = connection;
    this.#raw._executedGtids = null;
    this.#raw._seedGtidsFromStream = false;
    const nanoseconds = String(Math.round(heartbeat * 1e6));
    // The library says nothing where the server's setting is NONE, and then the server refuses older files that have it.
    const checksum = this.#raw.useChecksum ? 'CRC32' : 'NONE';
    const setting =
      `set @source_binlog_checksum = '${checksum}', @master_binlog_checksum = '${checksum}', ` +
      `@source_heartbeat_period = ${nanoseconds}, @master_heartbeat_period = ${nanoseconds}, ` +
      `session net_write_timeout = ${String(NET_WRITE_TIMEOUT)}`;
    connection.query(setting, (error: unknown) => {
      if (error !== null && error !== undefined) this.fail(error);
    });
    connection.on('end', () => {
      this.fail(new Error('Connection lost: the server ended the dump'));
    });
    this.#takeOverFlow(connection);
    this.#interceptPackets(connection);
    this.#heardAt = performance.now();
  }

  /** The library pauses and resumes the connection by itself: neither it nor we may undo the other's pause. */
  #takeOverFlow(connection: RawConnection): void {
    const pause = connection.pause.bind(connection);
    const resume = connection.resume.bind(connection);
    this.#setFlow = () => {
      if (this.#ended) return;
      if (this.#paused || this.#lookingUp) {
        pause();
        return;
      }
      // What is left of a compressed transaction comes before the packets that arrived behind it.
      connection._paused = false;
      this.#read(null, this.#reader);
      if (!this.#isHeld(connection)) resume();
    };
    connection.pause = () => {
      this.#lookingUp = true;
      this.#setFlow();
    };
    connection.resume = () => {
      this.#lookingUp = false;
      this.#setFlow();
    };
  }

  #isHeld(connection: RawConnection): boolean {
    return this.#ended || connection._paused === true;
  }

  /** Looks at each packet of the dump before the library does. */
  #interceptPackets(connection: RawConnection): void {
    const handlePacket = connection.handlePacket.bind(connection);
    const handle = (packet: RawPacket): void => {
      // The socket keeps the order; the numbers do not fit once packets were put in between, or left out.
      connection.sequenceId = packet.sequenceId;
      handlePacket(packet);
    };
    const reader = this.#readerOf(connection, handle);
    this.#reader = reader;
    let dumping = false;
    connection.handlePacket = (packet) => {
      this.#heard = true;
      // More may be in what was received with it.
      if (this.#ended) return;
      // A paused connection keeps the packet, and it comes here again.
      if (packet === undefined || this.#isHeld(connection)) {
        handlePacket(packet);
        return;
      }
      // Replies to the queries before the dump have the marker too; only an event knows its own length.
      dumping ||= isEvent(packet);
      const marker = packet.buffer[packet.offset];
      if (!dumping) handlePacket(packet);
      else if (marker === 0) this.#read(packet, reader);
      else if (marker === EOF_MARKER && packet.end - packet.offset < EOF_LENGTH)
        this.fail(new Error('Connection lost: the server ended the dump'));
      else handle(packet);
    };
  }

  /** Reads a packet, or goes on with the one before. What is thrown on the way ends the connection. */
  #read(packet: RawPacket | null, reader: DumpReader | null): void {
    try {
      if (packet === null) reader?.resume();
      else reader?.read(packet);
    } catch (error) {
      this.fail(error);
    }
  }

  #readerOf(connection: RawConnection, handle: (packet: RawPacket) => void): DumpReader {
    const raw = this.#raw;
    const isHeld = (): boolean => this.#isHeld(connection);
    const library: PacketLibrary = {
      checksum: raw.useChecksum ? CHECKSUM_LENGTH : 0,
      tableMap: raw.tableMap,
      get held() {
        return isHeld();
      },
      read: handle,
    };
    return new DumpReader(library, {
      event: (event) => {
        // In the library's callback, which would go on behind an error.
        if (this.#ended) return;
        try {
          this.#listener.event(event);
        } catch (error) {
          this.fail(error);
        }
      },
      raw: (type, body) => {
        this.#listener.raw(type, body);
      },
      begun: () => {
        this.#begin();
      },
    });
  }
}
