import type { ByteReader } from './byte-reader.js';
import type { Lsn } from './lsn.js';

/** A column as the Relation message describes it. */
export interface RelationColumn {
  readonly name: string;
  readonly typeOid: number;
}

export interface Relation {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly RelationColumn[];
}

export interface Begin {
  /** Where the transaction's commit record starts. */
  readonly commitLsn: Lsn;
  /** Microseconds since 2000-01-01 UTC. */
  readonly commitMicros: bigint;
  readonly xid: number;
}

export interface LogicalMessage {
  readonly transactional: boolean;
  readonly prefix: string;
  readonly content: string;
}

/** What a decoder does with each message that matters to an outbox. */
export interface PgoutputVisitor {
  begin(begin: Begin): void;
  /** @param endLsn where the commit record ends: the next transaction's may start right there */
  commit(endLsn: Lsn): void;
  relation(relation: Relation): void;
  /** The reader stands at the tuple's column count; nothing follows the tuple. */
  insert(relationOid: number, tuple: ByteReader): void;
  message(message: LogicalMessage): void;
}

// Message types of pgoutput, protocol version 1.
const BEGIN = 0x42; // B
const COMMIT = 0x43; // C
const RELATION = 0x52; // R
const INSERT = 0x49; // I
const MESSAGE = 0x4d; // M

/**
 * Reads one pgoutput message and calls the visitor. Others (Type, Origin, Update, Delete, Truncate) are passed
 * over: the publication asks for inserts only, and a publication of the user's may have more.
 */
export function visitMessage(reader: ByteReader, visitor: PgoutputVisitor): void {
  switch (reader.uint8()) {
    case INSERT: {
      const relationOid = reader.uint32();
      reader.skip(1); // 'N': a new tuple follows
      visitor.insert(relationOid, reader);
      return;
    }
    case BEGIN:
      visitor.begin({ commitLsn: reader.uint64(), commitMicros: reader.int64(), xid: reader.uint32() });
      return;
    case COMMIT:
      reader.skip(1 + 8); // flags, and the commit LSN that Begin had already
      visitor.commit(reader.uint64());
      return;
    case RELATION:
      visitor.relation(readRelation(reader));
      return;
    case MESSAGE:
      visitor.message(readLogicalMessage(reader));
      return;
    default:
  }
}

function readRelation(reader: ByteReader): Relation {
  const oid = reader.uint32();
  // pg_catalog is sent as an empty schema; no outbox lives there.
  const schema = reader.string();
  const name = reader.string();
  reader.skip(1); // replica identity
  const columns: RelationColumn[] = [];
  for (let left = reader.uint16(); left > 0; left -= 1) {
    reader.skip(1); // part of the key?
    const columnName = reader.string();
    const typeOid = reader.uint32();
    reader.skip(4); // type modifier
    columns.push({ name: columnName, typeOid });
  }
  reader.end();
  return { oid, schema, name, columns };
}

function readLogicalMessage(reader: ByteReader): LogicalMessage {
  const transactional = (reader.uint8() & 1) === 1;
  reader.skip(8); // its LSN
  const prefix = reader.string();
  const content = reader.text(reader.uint32());
  reader.end();
  return { transactional, prefix, content };
}
