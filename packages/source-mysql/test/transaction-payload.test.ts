import { describe, expect, it } from 'vitest';
import { expandPayload } from '../src/transaction-payload.js';

/** An event of a length, with its own header, filled with a byte. */
function event(length: number, fill: number): Buffer {
  const bytes = Buffer.alloc(length, fill);
  bytes.writeUInt32LE(length, 9);
  return bytes;
}

/** A zstd frame (RFC 8878) whose blocks are the bytes as they are. */
function zstd(content: Buffer, block = 1_000): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at < content.length; at += block) {
    const bytes = content.subarray(at, at + block);
    const header = Buffer.alloc(3);
    header.writeUIntLE((bytes.length << 3) | (at + block >= content.length ? 1 : 0), 0, 3);
    blocks.push(header, bytes);
  }
  // Frame_Header_Descriptor: single segment, content size in four bytes.
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0]);
  head.writeUInt32LE(content.length, 5);
  return Buffer.concat([head, ...blocks]);
}

/** Length-encoded, in the shortest way, or in a wider one. */
function number(value: number): Buffer {
  if (value < 251) return Buffer.from([value]);
  const bytes = Buffer.alloc(3);
  bytes[0] = 252;
  bytes.writeUInt16LE(value, 1);
  return bytes;
}

function field(type: number, value: number): Buffer {
  const bytes = number(value);
  return Buffer.concat([number(type), number(bytes.length), bytes]);
}

/** Size (1), compression (2), uncompressed size (3), then the end mark and the payload. */
function body(payload: Buffer, compression: number, size = 0): Buffer {
  return Buffer.concat([
    field(1, payload.length),
    field(2, compression),
    field(3, size),
    Buffer.from([0]),
    payload,
  ]);
}

const ZSTD = 0;
const NONE = 255;

describe('a compressed transaction', () => {
  const events = [event(19, 1), event(700, 2), event(30_000, 3), event(40, 4)];
  const plain = Buffer.concat(events);

  it.each<[string, Buffer]>([
    ['of zstd', body(zstd(plain), ZSTD, plain.length)],
    ['of one large block', body(zstd(plain, 100_000), ZSTD)],
    ['of small blocks', body(zstd(plain, 7), ZSTD)],
    ['that is not compressed after all', body(plain, NONE)],
    ['with a field that is not known', Buffer.concat([field(9, 1_000), body(zstd(plain), ZSTD)])],
  ])('%s gives its events', (_, bytes) => {
    const expanded = [...expandPayload(bytes)].map((each) => Buffer.from(each));
    expect(expanded.map(({ length }) => length)).toEqual(events.map(({ length }) => length));
    expect(Buffer.concat(expanded).equals(plain)).toBe(true);
  });

  it('without events is nothing', () => {
    expect([...expandPayload(body(Buffer.alloc(0), NONE))]).toEqual([]);
  });

  it.each<[string, Buffer, RegExp]>([
    ['in an unknown way', body(plain, 7), /unknown way \(7\)/],
    ['that is damaged', body(Buffer.from('no zstd at all'), ZSTD), /decompressed/],
    ['that ends inside an event', body(plain.subarray(0, -1), NONE), /ends inside an event/],
    [
      'with an event shorter than its header',
      body(event(19, 0).fill(5, 9, 13).fill(0, 10, 13), NONE),
      /impossible length/,
    ],
  ])('%s is refused', (_, bytes, message) => {
    const expand = (): unknown => [...expandPayload(bytes)];
    expect(expand).toThrow(message);
    expect(expand).toThrow(expect.objectContaining({ code: 'MYSQL_DECODE' }));
  });
});
