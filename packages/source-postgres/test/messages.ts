import type { RelationColumn } from '../src/pgoutput.js';

/** Builds protocol messages byte by byte, as the server would send them. */
export class Bytes {
  readonly #parts: Buffer[] = [];

  char(letter: string): this {
    return this.#push(Buffer.from(letter, 'latin1'));
  }

  uint8(value: number): this {
    return this.#push(Buffer.of(value));
  }

  uint16(value: number): this {
    const part = Buffer.alloc(2);
    part.writeUInt16BE(value);
    return this.#push(part);
  }

  uint32(value: number): this {
    const part = Buffer.alloc(4);
    part.writeUInt32BE(value);
    return this.#push(part);
  }

  uint64(value: bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigUInt64BE(value);
    return this.#push(part);
  }

  int64(value: bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigInt64BE(value);
    return this.#push(part);
  }

  string(text: string): this {
    return this.#push(Buffer.from(`${text}\0`, 'utf8'));
  }

  raw(bytes: Buffer): this {
    return this.#push(bytes);
  }

  /** A text with its length in bytes before it. */
  counted(text: string): this {
    const bytes = Buffer.from(text, 'utf8');
    return this.uint32(bytes.length).raw(bytes);
  }

  get buffer(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #push(part: Buffer): this {
    this.#parts.push(part);
    return this;
  }
}

export function begin(commitLsn: bigint, xid = 700, commitMicros = 0n): Buffer {
  return new Bytes().char('B').uint64(commitLsn).int64(commitMicros).uint32(xid).buffer;
}

export function commit(commitLsn: bigint, endLsn: bigint, commitMicros = 0n): Buffer {
  return new Bytes().char('C').uint8(0).uint64(commitLsn).uint64(endLsn).int64(commitMicros).buffer;
}

export function relation(
  oid: number,
  columns: readonly RelationColumn[],
  { schema = 'public', name = 'outbox' } = {},
): Buffer {
  const bytes = new Bytes()
    .char('R')
    .uint32(oid)
    .string(schema)
    .string(name)
    .char('d')
    .uint16(columns.length);
  for (const column of columns) bytes.uint8(0).string(column.name).uint32(column.typeOid).uint32(0xffffffff);
  return bytes.buffer;
}

/** The cells of a tuple, from its column count on; null for NULL. */
export function tuple(cells: readonly (string | null)[]): Buffer {
  const bytes = new Bytes().uint16(cells.length);
  for (const cell of cells) {
    if (cell === null) bytes.char('n');
    else bytes.char('t').counted(cell);
  }
  return bytes.buffer;
}

export function insert(relationOid: number, cells: readonly (string | null)[]): Buffer {
  return new Bytes().char('I').uint32(relationOid).char('N').raw(tuple(cells)).buffer;
}

export function message(
  prefix: string,
  content: string,
  { transactional = true, lsn = 0x10n }: { transactional?: boolean; lsn?: bigint } = {},
): Buffer {
  return new Bytes()
    .char('M')
    .uint8(transactional ? 1 : 0)
    .uint64(lsn)
    .string(prefix)
    .counted(content).buffer;
}

/** pg_type oids. */
export const OID = { bytea: 17, int8: 20, text: 25, json: 114, bool: 16, jsonb: 3802 } as const;
