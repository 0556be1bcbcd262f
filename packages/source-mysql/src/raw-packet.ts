import { HEADER, HEADER_LENGTH } from './binlog-events.js';

/** A packet of the dump as mysql2 has it: `buffer` from `offset` to `end` is a marker and one event. */
export interface RawPacket {
  sequenceId: number;
  numPackets: number;
  buffer: Buffer;
  start: number;
  offset: number;
  end: number;
  clone(): RawPacket;
}

/** The OK marker before each event. */
const MARKER_LENGTH = 1;
const PACKET_HEADER_LENGTH = 4;

/** Whether a packet holds an event: replies to queries have the marker too, but only an event knows its own length. */
export function isEvent(packet: RawPacket): boolean {
  const length = packet.end - packet.offset - MARKER_LENGTH;
  return length >= HEADER_LENGTH && packet.buffer.readUInt32LE(headerOf(packet) + HEADER.length) === length;
}

/** Where the event's common header starts. */
export function headerOf(packet: RawPacket): number {
  return packet.offset + MARKER_LENGTH;
}

/** What is between the common header and the checksum, of so many bytes. */
export function bodyOf(packet: RawPacket, checksum: number): Buffer {
  return packet.buffer.subarray(headerOf(packet) + HEADER_LENGTH, packet.end - checksum);
}

/** An event that stands inside of another one as a packet of its own, with room where its checksum would be. */
export function innerPacket(outer: RawPacket, event: Buffer, checksum: number): RawPacket {
  const header = PACKET_HEADER_LENGTH + MARKER_LENGTH;
  const bytes = Buffer.alloc(header + event.length + checksum);
  event.copy(bytes, header);
  // Inner events carry no position of their own; the end of the whole is what follows each.
  const nextPosition = outer.buffer.readUInt32LE(headerOf(outer) + HEADER.nextPosition);
  bytes.writeUInt32LE(nextPosition, header + HEADER.nextPosition);
  return repacked(outer, bytes);
}

/** The same event with a checksum of another length: so many bytes more than it should have are cut off or added. */
export function withoutExcess(packet: RawPacket, excess: number): RawPacket {
  const from = packet.offset;
  const bytes = Buffer.alloc(PACKET_HEADER_LENGTH + packet.end - from - excess);
  packet.buffer.copy(bytes, PACKET_HEADER_LENGTH, from, Math.min(packet.end, packet.end - excess));
  return repacked(packet, bytes);
}

/** A packet of other bytes, which are its header's place, the marker and an event. */
function repacked(packet: RawPacket, bytes: Buffer): RawPacket {
  bytes.writeUInt32LE(
    bytes.length - PACKET_HEADER_LENGTH - MARKER_LENGTH,
    PACKET_HEADER_LENGTH + MARKER_LENGTH + HEADER.length,
  );
  const copy = packet.clone();
  copy.buffer = bytes;
  copy.start = 0;
  copy.offset = PACKET_HEADER_LENGTH;
  copy.end = bytes.length;
  copy.numPackets = packet.numPackets;
  return copy;
}
