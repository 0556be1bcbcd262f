import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_TYPES, HEADER, HEADER_LENGTH, type GtidEvent } from '../src/binlog-events.js';
import { Framing } from '../src/framing.js';

const UUID = '3e11fa47-71ca-11e1-9e33-c80aa9429562';
const TIMESTAMP = 1_796_000_000;
const NEXT_POSITION = 4_711;

/** An event as the log has it, behind some bytes of something else and before a checksum. */
function logged(type: number, body: Buffer, serverId = 1): { buffer: Buffer; at: number; end: number } {
  const at = 7;
  const header = Buffer.alloc(HEADER_LENGTH);
  header.writeUInt32LE(TIMESTAMP, 0);
  header.writeUInt8(type, HEADER.type);
  header.writeUInt32LE(serverId, HEADER.serverId);
  header.writeUInt32LE(NEXT_POSITION, HEADER.nextPosition);
  const buffer = Buffer.concat([Buffer.alloc(at, 0xee), header, body, Buffer.from('BEGI')]);
  return { buffer, at, end: buffer.length - 4 };
}

function mysqlGtid(uuid: string, number: bigint): Buffer {
  const body = Buffer.alloc(1 + 16 + 8 + 17);
  body.write(uuid.replaceAll('-', ''), 1, 'hex');
  body.writeBigUInt64LE(number, 17);
  return body;
}

function mariadbGtid(domain: number, number: bigint, flags: number): Buffer {
  const body = Buffer.alloc(8 + 4 + 1 + 6);
  body.writeBigUInt64LE(number, 0);
  body.writeUInt32LE(domain, 8);
  body.writeUInt8(flags, 12);
  return body;
}

function query(text: string, schema = 'shop', variables = Buffer.from('BEGIN')): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt8(schema.length, 8);
  head.writeUInt16LE(variables.length, 11);
  return Buffer.concat([head, variables, Buffer.from(`${schema}\0${text}`)]);
}

function read(type: number, body: Buffer, serverId?: number, framing = new Framing()) {
  const { buffer, at, end } = logged(type, body, serverId);
  return framing.read(buffer, at, end);
}

describe('the events that frame a transaction are read without the library', () => {
  it('a GTID of MySQL', () => {
    const event = read(EVENT_TYPES.gtid, mysqlGtid(UUID, 42n)) as GtidEvent | null;
    expect(event).toMatchObject({
      gtid: `${UUID}:42`,
      isBegin: false,
      timestamp: TIMESTAMP * 1_000,
      nextPosition: NEXT_POSITION,
    });
  });

  it('GTIDs of several servers in turn', () => {
    const framing = new Framing();
    const one = '00000000-0000-0000-0000-000000000001';
    const seen = [UUID, UUID, one, UUID].map(
      (uuid) => (read(EVENT_TYPES.gtid, mysqlGtid(uuid, 1n), 1, framing) as GtidEvent | null)?.gtid,
    );
    expect(seen).toEqual([UUID, UUID, one, UUID].map((uuid) => `${uuid}:1`));
  });

  it('a GTID of MariaDB, which begins a transaction unless its one statement stands alone', () => {
    expect(read(EVENT_TYPES.mariadbGtid, mariadbGtid(3, 42n, 2), 4_000_000_000)).toMatchObject({
      gtid: '3-4000000000-42',
      isBegin: true,
    });
    expect(read(EVENT_TYPES.mariadbGtid, mariadbGtid(0, 43n, 1 | 2))).toMatchObject({
      gtid: '0-1-43',
      isBegin: false,
    });
  });

  it('with every digit of its number, or not at all', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), (number) => {
        const mysql = read(EVENT_TYPES.gtid, mysqlGtid(UUID, number)) as GtidEvent | null;
        const mariadb = read(EVENT_TYPES.mariadbGtid, mariadbGtid(0, number, 0)) as GtidEvent | null;
        const isExact = number < 2n ** 53n;
        expect(mysql?.gtid).toBe(isExact ? `${UUID}:${String(number)}` : undefined);
        expect(mariadb?.gtid).toBe(isExact ? `0-1-${String(number)}` : undefined);
      }),
    );
  });

  it('the commit, and BEGIN', () => {
    expect(read(EVENT_TYPES.xid, Buffer.alloc(8))?.getTypeName()).toBe('Xid');
    expect(read(EVENT_TYPES.query, query('BEGIN'))?.getTypeName()).toBe('Begin');
    expect(read(EVENT_TYPES.query, query('BEGIN', '', Buffer.alloc(300)))?.getTypeName()).toBe('Begin');
  });

  it.each(['COMMIT', 'BEGI', 'BEGIN ', 'begin', "XA START X'61',X'',1", 'drop table outbox'])(
    'and no other statement: %s',
    (text) => {
      expect(read(EVENT_TYPES.query, query(text))).toBeNull();
    },
  );

  it.each([EVENT_TYPES.tableMap, EVENT_TYPES.formatDescription, EVENT_TYPES.transactionPayload, 30, 34, 42])(
    'nor an event of type %i',
    (type) => {
      expect(read(type, mysqlGtid(UUID, 1n))).toBeNull();
    },
  );
});
