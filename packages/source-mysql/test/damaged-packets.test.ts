import { StrandlineError } from '@strandline/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_TYPES, HEADER, HEADER_LENGTH, type BinlogEvent } from '../src/binlog-events.js';
import { DumpReader, type PacketLibrary } from '../src/dump-reader.js';
import { jsonText } from '../src/json-binary.js';
import { faultOf } from '../src/log-errors.js';
import type { RawPacket } from '../src/raw-packet.js';
import { expandPayload } from '../src/transaction-payload.js';

/** An event with its own header, filled with drawn bytes. */
const event = fc.uint8Array({ maxLength: 300 }).map((body) => {
  const bytes = Buffer.concat([Buffer.alloc(HEADER_LENGTH), body]);
  bytes.writeUInt32LE(bytes.length, HEADER.length);
  bytes.writeUInt8(EVENT_TYPES.xid, HEADER.type);
  return bytes;
});

/** Length-encoded, below 2^16. */
function number(value: number): Buffer {
  return value < 251 ? Buffer.of(value) : Buffer.of(252, value & 0xff, value >> 8);
}

function field(type: number, value: number): Buffer {
  const bytes = number(value);
  return Buffer.concat([number(type), number(bytes.length), bytes]);
}

/** A zstd frame (RFC 8878) of raw blocks, or of the bytes as they are. */
function body(content: Buffer, isZstd: boolean): Buffer {
  const frame: Buffer[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0])];
  frame[0]?.writeUInt32LE(content.length, 5);
  for (let at = 0; at < content.length || at === 0; at += 100) {
    const block = content.subarray(at, at + 100);
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | (at + 100 >= content.length ? 1 : 0), 0, 3);
    frame.push(header, block);
  }
  const payload = isZstd ? Buffer.concat(frame) : content;
  return Buffer.concat([
    ...[field(1, payload.length), field(2, isZstd ? 0 : 255), field(3, content.length)],
    ...[Buffer.of(0), payload],
  ]);
}

function damaged(bytes: Buffer, at: number, byte: number, how: number): Buffer {
  const from = at % bytes.length;
  const [before, behind] = [bytes.subarray(0, from), bytes.subarray(from + 1)];
  const mark = Buffer.of(byte);
  return Buffer.concat(
    [[before, mark, behind], [before, behind], [before, mark, bytes.subarray(from)], [before]][how] ?? [],
  );
}

const damage = fc.tuple(fc.nat(4_000), fc.nat(255), fc.nat(3));

/** What a call gives, or the error of ours that it throws. Any other error ends the property. */
function outcome<T>(call: () => T): T | StrandlineError {
  try {
    return call();
  } catch (error) {
    // As the log does with whatever ends its dump.
    const fault = faultOf(error);
    if (fault instanceof StrandlineError) return fault;
    throw fault;
  }
}

describe('a compressed transaction', () => {
  const transaction = fc.tuple(fc.array(event, { minLength: 1, maxLength: 6 }), fc.boolean());

  it('gives its events again', () => {
    fc.assert(
      fc.property(transaction, ([events, isZstd]) => {
        const expanded = [...expandPayload(body(Buffer.concat(events), isZstd))].map((each) =>
          Buffer.from(each),
        );
        expect(expanded).toEqual(events);
      }),
    );
  });

  it('that ends too early is refused: no event of it is missing in silence', () => {
    fc.assert(
      fc.property(transaction, fc.nat(4_000), ([events, isZstd], at) => {
        const whole = body(Buffer.concat(events), isZstd);
        const result = outcome(() => [...expandPayload(whole.subarray(0, at % whole.length))]);
        expect(result).toMatchObject({ code: 'MYSQL_DECODE' });
      }),
      { numRuns: 1_000 },
    );
  });

  it('that is damaged is refused, or gives events of the lengths that they say, as many bytes as it says', () => {
    fc.assert(
      fc.property(transaction, damage, ([events, isZstd], [at, byte, how]) => {
        const content = Buffer.concat(events);
        const result = outcome(() =>
          [...expandPayload(damaged(body(content, isZstd), at, byte, how))].map((each) => Buffer.from(each)),
        );
        if (result instanceof StrandlineError) expect(result.code).toBe('MYSQL_DECODE');
        else for (const each of result) expect(each.readUInt32LE(HEADER.length)).toBe(each.length);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** A packet with an event, as it lies in a buffer with others behind it. */
function packetOf(bytes: Buffer, checksum: number): RawPacket {
  const buffer = Buffer.concat([Buffer.alloc(4 + 1), bytes, Buffer.alloc(checksum), Buffer.alloc(64, 0xee)]);
  const packet: RawPacket = {
    ...{ sequenceId: 0, numPackets: 1, buffer, start: 0, offset: 4 },
    end: 4 + 1 + bytes.length + checksum,
    clone: () => ({ ...packet }),
  };
  return packet;
}

/** Reads packets with a library that reads as many bytes of each as it is told, and hands out an event. */
function reading(
  library: Partial<PacketLibrary> & { readonly reads?: (packet: RawPacket) => number },
  checksum = 0,
) {
  const seen: BinlogEvent[] = [];
  const rows: BinlogEvent = { timestamp: 0, nextPosition: 0, size: 0, getTypeName: () => 'WriteRows' };
  const reader: DumpReader = new DumpReader(
    {
      checksum,
      tableMap: {},
      held: false,
      ...library,
      read: (packet) => {
        packet.offset += library.reads?.(packet) ?? packet.end - packet.offset;
        reader.event(rows);
      },
    },
    { event: (each) => seen.push(each), raw: () => undefined, begun: () => undefined },
  );
  return { reader, seen };
}

const rowsEvent = event.map((bytes) => {
  bytes.writeUInt8(30, HEADER.type); // WRITE_ROWS_EVENT
  return bytes;
});

describe('a packet of the dump', () => {
  it('of which the library reads more than there is, as a length that lies makes it, is refused before its rows are handed on', () => {
    fc.assert(
      fc.property(
        rowsEvent,
        fc.integer({ min: 1, max: 60 }),
        fc.constantFrom(0, 4),
        (bytes, beyond, checksum) => {
          const { reader, seen } = reading({ reads: ({ offset, end }) => end - offset + beyond }, checksum);
          const result = outcome(() => {
            reader.read(packetOf(bytes, checksum));
          });
          expect(result).toMatchObject({ code: 'MYSQL_DECODE' });
          expect(seen).toEqual([]);
        },
      ),
    );
  });

  it('of which it reads all, or not all, is handed on', () => {
    fc.assert(
      fc.property(rowsEvent, fc.nat(10), (bytes, left) => {
        const { reader, seen } = reading({ reads: ({ offset, end }) => end - offset - left });
        reader.read(packetOf(bytes, 0));
        expect(seen).toHaveLength(1);
      }),
    );
  });

  it('with an event that frames a transaction, cut anywhere, is told as an event or refused', () => {
    const types = fc.constantFrom(
      EVENT_TYPES.gtid,
      EVENT_TYPES.mariadbGtid,
      EVENT_TYPES.query,
      EVENT_TYPES.xid,
    );
    fc.assert(
      fc.property(types, fc.uint8Array({ maxLength: 60 }), (type, content) => {
        const bytes = Buffer.concat([Buffer.alloc(HEADER_LENGTH), content]);
        bytes.writeUInt8(type, HEADER.type);
        bytes.writeUInt32LE(bytes.length, HEADER.length);
        const packet = packetOf(bytes, 0);
        // Nothing lies behind it: what is read beyond its end can only be an error.
        packet.buffer = packet.buffer.subarray(0, packet.end);
        const { reader, seen } = reading({});
        const result = outcome(() => {
          reader.read(packet);
        });
        if (result instanceof StrandlineError) expect([result.code, seen]).toEqual(['MYSQL_DECODE', []]);
        else expect(seen).toHaveLength(1);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('what ends a dump', () => {
  const withCode = (code: string, error: Error = new Error('x')): Error => Object.assign(error, { code });

  it.each<[string, unknown]>([
    ['a read beyond a buffer', withCode('ERR_OUT_OF_RANGE', new RangeError('out of range'))],
    ['a number beyond a buffer', withCode('ERR_BUFFER_OUT_OF_BOUNDS', new RangeError('outside'))],
    ['a type that is none', withCode('ERR_INVALID_ARG_TYPE', new TypeError('undefined'))],
    ['compressed rows that are none', Object.assign(withCode('Z_DATA_ERROR'), { errno: -3 })],
    ['a compressed row that ends too early', Object.assign(withCode('Z_BUF_ERROR'), { errno: -5 })],
    ['an error of the library', new Error('Unknown column type')],
  ])('is bytes that no retry can read: %s', (_, error) => {
    expect(faultOf(error)).toMatchObject({ code: 'MYSQL_DECODE', transient: false });
  });

  it.each<[string, unknown]>([
    ['ECONNRESET', withCode('ECONNRESET')],
    ['PROTOCOL_CONNECTION_LOST', withCode('PROTOCOL_CONNECTION_LOST')],
    ['an error of the server', Object.assign(withCode('ER_SERVER_SHUTDOWN'), { errno: 1053 })],
    ['silence', new Error('Connection lost: no word from the server for 30000 ms')],
  ])('or a connection that may come again: %s', (_, error) => {
    expect(faultOf(error)).toBe(error);
  });
});

describe('binary JSON', () => {
  const samples = [
    '0000000400',
    '0200000400',
    '0c03e282ac',
    '0ff60402018005',
    '020200190005010005ffff',
    '000100110012000100050200610a6162636465666768696a',
    '0001000f000b0001000561020002000c0005ffff05ffff',
  ].map((hex) => Buffer.from(hex, 'hex'));

  it('that is damaged is JSON, or an error: what lies beyond its end is not made up', () => {
    fc.assert(
      fc.property(fc.constantFrom(...samples), damage, (sample, [at, byte, how]) => {
        const bytes = damaged(sample, at, byte, how);
        let text: string;
        try {
          text = jsonText(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          return;
        }
        expect(() => void JSON.parse(text)).not.toThrow();
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['a text', '0c05616263'],
    ['a decimal', '0ff604020180'],
    ['what is opaque', '0ffc0561'],
    ['the name of a member', '00010012000b0005000403616263'],
  ])('of which %s is shorter than its length says is refused', (_, hex) => {
    expect(() => jsonText(Buffer.from(hex, 'hex'))).toThrow();
  });
});
