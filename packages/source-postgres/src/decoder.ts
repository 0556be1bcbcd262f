import { ByteReader } from './byte-reader.js';
import type { OutboxTable } from '@strandline/source-kit';
import type { OutboxMessages } from './config.js';
import { postgresError } from './errors.js';
import type { PostgresEvent, TransactionContext } from './event.js';
import type { Lsn } from './lsn.js';
import { MessageMapper } from './message-mapper.js';
import {
  visitMessage,
  type Begin,
  type LogicalMessage,
  type PgoutputVisitor,
  type Relation,
} from './pgoutput.js';
import { logPosition } from './position.js';
import { RowMapper } from './row-mapper.js';

/** What the decoder is told of the outbox. */
export interface DecoderOptions {
  /** The mapped table with its oid and its qualified name, or null for a tableless outbox. */
  readonly table: { readonly outbox: OutboxTable; readonly oid: number; readonly name: string } | null;
  readonly messages: OutboxMessages | null;
  readonly nullKey: 'reject' | 'unordered';
}

/** Where the decoder's output goes. */
export interface DecoderSink {
  event(event: PostgresEvent, context: TransactionContext): void;
  /** Everything that committed before `lsn` has been handed over. */
  passed(lsn: Lsn, context: TransactionContext | null): void;
}

/** Where the stream is resumed: events up to and including this one were handed over before. */
export interface ResumePoint {
  readonly lsn: Lsn;
  readonly ordinal: number;
}

interface OpenTransaction extends TransactionContext {
  readonly commitLsn: Lsn;
  ordinal: number;
}

/**
 * Turns the pgoutput stream of one connection into events with positions. Rows of a transaction arrive
 * together and after its commit (protocol 1 does not stream transactions in progress), so the position of each
 * is known at its Begin.
 */
export class Decoder implements PgoutputVisitor {
  readonly #options: DecoderOptions;
  readonly #sink: DecoderSink;
  readonly #messages: MessageMapper | null;
  /** By the oid of the relation: a table that was made anew under the name of the outbox has another one. */
  readonly #mappers = new Map<number, RowMapper>();
  readonly #reader = new ByteReader(Buffer.alloc(0));
  #open: OpenTransaction | null = null;
  /** Where the stream is resumed, see `ResumePoint`. */
  #resumeLsn: Lsn;
  #resumeOrdinal: number;

  constructor(options: DecoderOptions, sink: DecoderSink, resume: ResumePoint) {
    this.#options = options;
    this.#sink = sink;
    this.#resumeLsn = resume.lsn;
    this.#resumeOrdinal = resume.ordinal;
    this.#messages = options.messages && new MessageMapper(options.messages, options.nullKey);
  }

  /** The last event or commit that was handed over: where the next connection resumes. */
  get resumePoint(): ResumePoint {
    return { lsn: this.#resumeLsn, ordinal: this.#resumeOrdinal };
  }

  /** Decodes the message that begins there and ends with the buffer. */
  decode(buffer: Buffer, at = 0): void {
    this.#reader.reset(buffer, at);
    visitMessage(this.#reader, this);
  }

  /** A keepalive came: the server has sent everything up to `walEnd`. */
  keepalive(walEnd: Lsn): void {
    // Inside a transaction the rows before the keepalive may be only some of its rows.
    if (this.#open === null && walEnd > this.#resumeLsn) this.#pass(walEnd, null);
  }

  begin({ commitLsn, commitMicros, xid }: Begin): void {
    this.#open = { commitLsn, commitMicros, xid, ordinal: 0 };
  }

  commit(endLsn: Lsn): void {
    const context = this.#open;
    this.#open = null;
    if (endLsn > this.#resumeLsn) this.#pass(endLsn, context);
  }

  relation({ oid, schema, name, columns }: Relation): void {
    const { table, nullKey } = this.#options;
    if (table === null) return;
    // By its oid, whatever it was called when the row was inserted: a rename does not part its rows.
    if (oid === table.oid || `${schema}.${name}` === table.name) {
      this.#mappers.set(oid, new RowMapper(table.outbox, table.name, columns, nullKey));
    }
  }

  insert(relationOid: number, tuple: ByteReader): void {
    const mapper = this.#mappers.get(relationOid);
    if (mapper === undefined) return;
    const transaction = this.#transaction();
    transaction.ordinal += 1;
    if (this.#handedOver(transaction)) return;
    this.#hand(mapper.fromTuple(tuple, transaction, transaction.commitLsn, transaction.ordinal), transaction);
  }

  message({ transactional, prefix, content }: LogicalMessage): void {
    if (this.#messages?.prefix !== prefix) return;
    if (!transactional) {
      throw postgresError(
        'PG_MESSAGE',
        `A message with prefix ${JSON.stringify(prefix)} was written outside of a transaction.`,
        'Write it with pg_logical_emit_message(true, …): only then does it commit or roll back with the business data.',
        { position: this.#position() },
      );
    }
    const transaction = this.#transaction();
    transaction.ordinal += 1;
    if (this.#handedOver(transaction)) return;
    const position = logPosition(transaction.commitLsn, transaction.ordinal);
    this.#hand(this.#messages.fromContent(content, position, transaction, transaction.ordinal), transaction);
  }

  #hand(event: PostgresEvent, transaction: OpenTransaction): void {
    this.#resumeLsn = transaction.commitLsn;
    this.#resumeOrdinal = transaction.ordinal;
    this.#sink.event(event, transaction);
  }

  #pass(lsn: Lsn, context: TransactionContext | null): void {
    this.#resumeLsn = lsn;
    this.#resumeOrdinal = 0;
    this.#sink.passed(lsn, context);
  }

  #handedOver({ commitLsn, ordinal }: OpenTransaction): boolean {
    const lsn = this.#resumeLsn;
    return commitLsn < lsn || (commitLsn === lsn && ordinal <= this.#resumeOrdinal);
  }

  #transaction(): OpenTransaction {
    if (this.#open !== null) return this.#open;
    throw postgresError(
      'PG_PROTOCOL',
      'A row arrived outside of a transaction.',
      'The stream stopped before it. Check for a proxy between Strandline and the server.',
    );
  }

  #position(): string {
    return this.#open === null
      ? logPosition(this.#resumeLsn, this.#resumeOrdinal)
      : logPosition(this.#open.commitLsn, this.#open.ordinal + 1);
  }
}
