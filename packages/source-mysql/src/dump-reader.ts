import { EVENT_TYPES, HEADER, HEADER_LENGTH, isUnknown, type BinlogEvent } from './binlog-events.js';
import { Framing } from './framing.js';
import { mysqlError } from './errors.js';
import { bodyOf, headerOf, innerPacket, withoutExcess, type RawPacket } from './raw-packet.js';
import { TableMaps } from './table-maps.js';
import { expandPayload } from './transaction-payload.js';

/** The library as far as it reads packets. What it reads comes back by `DumpReader.event`. */
export interface PacketLibrary {
  /** Bytes that it takes for the checksum of every event: the server's setting when the dump began. */
  readonly checksum: number;
  /** Its table maps by table id. */
  readonly tableMap: Readonly<Record<number, unknown>>;
  read(packet: RawPacket): void;
  /** Nothing more may be read for now. */
  readonly held: boolean;
}

export interface DumpSink {
  /** One event, in stream order. */
  event(event: BinlogEvent): void;
  /** An event that only its type tells apart, such as LOAD DATA in statement format. */
  raw(type: number, body: Buffer): void;
  /** A file of the log has been described: the server has accepted the dump. */
  begun(): void;
}

const CHECKSUM_LENGTH = 4;

/**
 * Looks at each packet of a dump before the library does, and leaves it what it is needed for: compressed
 * transactions are expanded, each log file's own checksum is heeded, a transaction's frame and table maps that came
 * before are told at once.
 */
export class DumpReader {
  readonly #library: PacketLibrary;
  readonly #sink: DumpSink;
  readonly #framing = new Framing();
  readonly #tableMaps = new TableMaps();
  /** A compressed transaction that is being handed on, event by event. */
  #inner: { readonly packet: RawPacket; readonly events: Generator<Buffer> } | null = null;
  /** Bytes of the checksum of an event, as the file that it stands in says. */
  #checksum: number;
  /** What the library reads at the moment. */
  #given: RawPacket | null = null;
  #bytes = 0;

  constructor(library: PacketLibrary, sink: DumpSink) {
    this.#library = library;
    this.#sink = sink;
    this.#checksum = library.checksum;
  }

  /** Bytes of events that came so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** An event that the library has read. */
  event(event: BinlogEvent): void {
    // Rows that are made of what lies behind their packet are no rows.
    if (this.#given !== null && isOverrun(this.#given)) return;
    this.#tableMaps.read(event, this.#library.tableMap);
    this.#sink.event(event);
  }

  /** The next packet of the dump, which holds an event. */
  read(packet: RawPacket): void {
    this.#bytes += packet.end - packet.offset;
    const header = headerOf(packet);
    const type = packet.buffer.readUInt8(header + HEADER.type);
    if (type === EVENT_TYPES.transactionPayload) {
      const kept = packet.clone();
      this.#inner = { packet: kept, events: expandPayload(bodyOf(kept, this.#checksum)) };
      this.resume();
      return;
    }
    if (type === EVENT_TYPES.formatDescription) {
      // This event has a checksum in any case, and before it the algorithm of all that follow in its file.
      this.#checksum = packet.buffer[packet.end - CHECKSUM_LENGTH - 1] === 1 ? CHECKSUM_LENGTH : 0;
      this.#library.read(packet);
      this.#sink.begun();
      return;
    }
    const isRaw = type === EVENT_TYPES.incident || type === EVENT_TYPES.loadQuery;
    if (isRaw || isUnknown(type, packet.buffer.readUInt16LE(header + HEADER.flags)))
      this.#sink.raw(type, bodyOf(packet, this.#checksum));
    this.#handOn(packet, type, this.#checksum);
  }

  /** Goes on with the events inside of a compressed transaction, one packet each, until they are held up. */
  resume(): void {
    while (this.#inner !== null && !this.#library.held) {
      const { packet, events } = this.#inner;
      const next = events.next();
      if (next.done === true) {
        this.#inner = null;
        return;
      }
      const { checksum } = this.#library;
      const inner = innerPacket(packet, next.value, checksum);
      this.#handOn(inner, next.value.readUInt8(HEADER.type), checksum);
    }
  }

  /** Hands on what can be told without the library, and the rest to the library. */
  #handOn(packet: RawPacket, type: number, checksum: number): void {
    const end = packet.end - checksum;
    const event = this.#framing.read(packet.buffer, headerOf(packet), end);
    if (event !== null) {
      this.#sink.event(event);
      return;
    }
    if (type === EVENT_TYPES.tableMap) {
      const body = headerOf(packet) + HEADER_LENGTH;
      const known = this.#tableMaps.find(packet.buffer, body, end, this.#library.tableMap);
      if (known !== null) {
        this.#sink.event(known);
        return;
      }
      this.#tableMaps.expect(packet.buffer, body, end);
    }
    const excess = checksum - this.#library.checksum;
    const given = excess === 0 ? packet : withoutExcess(packet, excess);
    this.#given = given;
    this.#library.read(given);
    this.#given = null;
    if (isOverrun(given)) throw overrun();
  }
}

/** The library moves the packet's offset while it reads, and does not look at its end: a length that lies leads beyond it. */
function isOverrun({ offset, end }: RawPacket): boolean {
  return offset > end;
}

function overrun(): Error {
  return mysqlError(
    'MYSQL_DECODE',
    'An event of the binlog is shorter than what it says of itself.',
    'The stream stopped before its transaction. The log is damaged, on the disk of the server or on the way: see whether a replica can read it.',
  );
}
