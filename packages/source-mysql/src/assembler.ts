import type {
  BinlogEvent,
  GtidEvent,
  MariadbGtidEvent,
  QueryEvent,
  RotateEvent,
  RowsEvent,
  TableMapEvent,
  XaPrepareEvent,
} from './binlog-events.js';
import { EVENT_TYPES } from './binlog-events.js';
import { mysqlError } from './errors.js';
import type { MysqlEvent, TransactionContext } from './event.js';
import { History, type Flavour, type HistoryMark } from './gtids.js';
import { formatPosition, WHOLE, type FilePosition } from './position.js';
import type { RowMapper } from './row-mapper.js';
import { readStatement, type Statement } from './statements.js';

/** Rows of one transaction that are held until its commit is read; beyond, it is read again once it is proven. */
const HELD_ROWS = 4_096;

export interface AssemblerOptions {
  readonly flavour: Flavour;
  readonly server: string;
  readonly schema: string;
  readonly table: string;
  /** What was executed where the dump starts; null without GTIDs. */
  readonly executed: string | null;
  /** A transaction that starts here is known to have committed: its rows are handed over as they come. */
  readonly proven: FilePosition | null;
  /** The mapper of the layout that a table map tells. */
  mapperFor(map: TableMapEvent): RowMapper;
  /** Does a statement that changes rows touch the outbox? It has no rows to read then. */
  touchesOutbox(statement: string): boolean;
}

export interface AssemblerSink {
  event(event: MysqlEvent, context: TransactionContext): void;
  /** Everything up to here has been handed over. */
  passed(position: () => string, context: TransactionContext | null): void;
  /** A transaction with more rows than are held has committed: it must be read again, from where it starts. */
  readAgain(at: FilePosition, executed: string | null): void;
}

/** One transaction, or one statement that stands alone, as far as it was read. */
interface Group {
  readonly gtid: string;
  readonly at: FilePosition;
  readonly before: HistoryMark | null;
  /** It was begun, and ends with a commit or rollback; otherwise its one statement ends it. */
  explicit: boolean;
  readonly proven: boolean;
  readonly rows: { readonly mapper: RowMapper; readonly row: Readonly<Record<string, unknown>> }[];
  readonly savepoints: Map<string, number>;
  count: number;
  overflown: boolean;
  timestamp: number;
  xid: string | null;
  mapper: RowMapper | null;
  tableId: number;
}

/** Rows of an XA transaction that was prepared and is not decided yet. */
interface Prepared {
  readonly rows: Group['rows'];
  readonly at: FilePosition;
  readonly before: HistoryMark | null;
}

/**
 * Puts transactions together from the events of one dump, and hands over only what is proven to have
 * committed:
 *
 *     between ──GTID / BEGIN──► open ──XID, COMMIT──► handed over, between
 *                                │ ──ROLLBACK──────► dropped, between
 *                                └──XA PREPARE─────► prepared ──XA COMMIT──► handed over
 *                                                             └─XA ROLLBACK─► dropped
 */
export class Assembler {
  readonly #options: AssemblerOptions;
  readonly #sink: AssemblerSink;
  readonly #history: History | null;
  readonly #prepared = new Map<string, Prepared>();
  #end: FilePosition = { file: '', offset: 4 };
  #group: Group | null = null;
  #stopped = false;

  constructor(options: AssemblerOptions, sink: AssemblerSink) {
    this.#options = options;
    this.#sink = sink;
    this.#history = options.executed === null ? null : new History(options.flavour, options.executed);
  }

  /** An event that the library has no class for. */
  raw(type: number, body: Buffer): void {
    if (type === EVENT_TYPES.incident) {
      throw mysqlError(
        'MYSQL_INCIDENT',
        `The server says that its log lacks events, at ${this.#end.file}:${String(this.#end.offset)}.`,
        "Look for what was committed at that time in the table; then start under a new pipeline name with start: 'snapshot'.",
        { position: this.#position() },
      );
    }
    const text = body.toString('latin1');
    if (this.#options.touchesOutbox(text)) throw this.#statementError('LOAD DATA');
  }

  event(event: BinlogEvent): void {
    if (this.#stopped) return;
    switch (event.getTypeName()) {
      case 'WriteRows':
        this.#rows(event as RowsEvent);
        return;
      case 'TableMap':
        this.#tableMap(event as TableMapEvent);
        return;
      case 'Xid':
        this.#commit(event);
        return;
      case 'Query':
        this.#query(event as QueryEvent);
        return;
      case 'Gtid':
        this.#begin((event as GtidEvent).gtid, false);
        return;
      case 'AnonymousGtid':
        this.#begin('', false);
        return;
      case 'MariadbGtid':
        // MariaDB's GTID event is the BEGIN as well.
        this.#begin((event as MariadbGtidEvent).gtid, !(event as MariadbGtidEvent).standalone);
        return;
      case 'XaPrepare':
        this.#prepare(event as XaPrepareEvent);
        return;
      case 'Rotate':
        this.#end = { file: (event as RotateEvent).binlogName, offset: (event as RotateEvent).position };
        return;
      default:
        if (this.#group === null) this.#idle(event);
    }
  }

  #begin(gtid: string, explicit: boolean): void {
    this.#finishStandalone();
    this.#group = {
      gtid,
      at: this.#end,
      before: this.#history?.mark() ?? null,
      explicit,
      proven: samePlace(this.#options.proven, this.#end),
      rows: [],
      savepoints: new Map(),
      count: 0,
      overflown: false,
      timestamp: 0,
      xid: null,
      mapper: null,
      tableId: -1,
    };
  }

  /** A group of one statement, such as DDL, has no commit: the next group ends it. */
  #finishStandalone(): void {
    const group = this.#group;
    if (group === null) return;
    if (group.count > 0) throw this.#unproven();
    this.#close(group);
  }

  #tableMap(map: TableMapEvent): void {
    const { schema, table } = this.#options;
    const group = this.#open();
    if (map.schemaName !== schema || map.tableName !== table) return;
    group.mapper = this.#options.mapperFor(map);
    group.tableId = map.tableId;
  }

  #rows(event: RowsEvent): void {
    const group = this.#open();
    const { mapper } = group;
    // A table id that was not mapped in this transaction is of another table: ids are used again.
    if (mapper === null || event.tableId !== group.tableId) return;
    for (const index of mapper.needed) {
      const present = (event.columns_present_bitmap[index >> 3] ?? 0) & (1 << (index & 7));
      if (present === 0) throw this.#partialImage(index);
    }
    group.timestamp = event.timestamp;
    for (const row of event.rows) this.#row(group, mapper, row);
  }

  #row(group: Group, mapper: RowMapper, row: Readonly<Record<string, unknown>>): void {
    group.count += 1;
    if (group.proven) {
      const context = this.#context(group);
      this.#sink.event(mapper.toEvent(row, context, group.count), context);
      return;
    }
    if (group.overflown) return;
    group.rows.push({ mapper, row });
    if (group.rows.length < HELD_ROWS || group.xid !== null) return;
    group.overflown = true;
    group.rows.length = 0;
  }

  #query(event: QueryEvent): void {
    const statement = readStatement(event.query);
    if (statement.kind === 'begin') {
      this.#open().explicit = true;
      return;
    }
    this.#apply(statement, event);
  }

  #apply(statement: Statement, event: QueryEvent): void {
    switch (statement.kind) {
      case 'commit':
        this.#commit(event);
        return;
      case 'rollback':
        this.#drop(event);
        return;
      case 'xaStart':
        this.#startXa(statement.xid);
        return;
      case 'xaEnd':
        return;
      case 'xaCommit':
        this.#decide(statement.xid, event, true);
        return;
      case 'xaRollback':
        this.#decide(statement.xid, event, false);
        return;
      case 'savepoint': {
        const group = this.#open();
        group.savepoints.set(statement.name, group.count);
        return;
      }
      case 'rollbackTo':
        this.#rollbackTo(statement.name);
        return;
      case 'change':
        if (this.#options.touchesOutbox(statement.text))
          throw this.#statementError(firstWords(statement.text));
        this.#passStatement(event);
        return;
      default:
        this.#passStatement(event);
    }
  }

  /** DDL and the like stand alone: the statement is its own transaction. */
  #passStatement(event: BinlogEvent): void {
    if (this.#group?.explicit === true) return;
    this.#moveEnd(event);
    if (this.#group !== null) this.#close(this.#group);
  }

  #startXa(xid: string): void {
    const group = this.#open();
    group.xid = xid;
    group.explicit = true;
  }

  #commit(event: BinlogEvent): void {
    const group = this.#open();
    group.timestamp = event.timestamp;
    if (group.overflown) {
      this.#stopped = true;
      this.#sink.readAgain(group.at, group.before?.text ?? null);
      return;
    }
    this.#handOver(group, group.rows);
    this.#moveEnd(event);
    this.#close(group);
  }

  #handOver(group: Group, rows: Group['rows']): void {
    const context = this.#context(group);
    rows.forEach(({ mapper, row }, index) => {
      this.#sink.event(mapper.toEvent(row, context, index + 1), context);
    });
  }

  #drop(event: BinlogEvent): void {
    this.#moveEnd(event);
    if (this.#group !== null) this.#close(this.#group);
  }

  #prepare(event: XaPrepareEvent): void {
    const group = this.#open();
    if (event.onePhase) {
      this.#commit(event);
      return;
    }
    if (group.xid !== null && group.rows.length > 0) {
      this.#prepared.set(group.xid, { rows: [...group.rows], at: group.at, before: group.before });
    }
    this.#moveEnd(event);
    this.#close(group);
  }

  #decide(xid: string, event: BinlogEvent, committed: boolean): void {
    const group = this.#open();
    const prepared = this.#prepared.get(xid);
    if (prepared !== undefined && committed) {
      group.timestamp = event.timestamp;
      this.#handOver(group, prepared.rows);
    }
    this.#prepared.delete(xid);
    this.#moveEnd(event);
    this.#close(group);
  }

  #rollbackTo(name: string): void {
    const group = this.#open();
    const kept = group.savepoints.get(name) ?? 0;
    if (group.proven && kept < group.count) throw this.#unproven();
    group.count = kept;
    if (group.overflown) return;
    group.rows.length = Math.min(group.rows.length, kept);
  }

  #close(group: Group): void {
    this.#group = null;
    if (this.#history === null) {
      this.#passFiles();
      return;
    }
    if (group.gtid === '') return;
    this.#history.add(group.gtid);
    const context = this.#context(group);
    this.#sink.passed(() => context.position(WHOLE), context);
  }

  /** An event between transactions, such as a heartbeat: the log was read up to there. */
  #idle(event: BinlogEvent): void {
    if (event.nextPosition <= this.#end.offset) return;
    this.#moveEnd(event);
    if (this.#history === null) this.#passFiles();
  }

  #passFiles(): void {
    const at = this.#end;
    const from = printed(this.#from());
    const { server } = this.#options;
    this.#sink.passed(() => formatPosition({ server, at, ordinal: 0, gtid: '', executed: '', from }), null);
  }

  #moveEnd(event: BinlogEvent): void {
    if (event.nextPosition > 0) this.#end = { file: this.#end.file, offset: event.nextPosition };
  }

  #context(group: Group): TransactionContext {
    const { server } = this.#options;
    const { at, gtid, before } = group;
    const from = this.#from();
    return {
      id: gtid === '' ? `${at.file}:${String(at.offset)}` : gtid,
      timestamp: group.timestamp,
      position: (ordinal) =>
        formatPosition({ server, at, ordinal, gtid, executed: before?.text ?? '', from: printed(from) }),
    };
  }

  /** Where reading must resume for the sake of XA transactions that are not decided. */
  #from(): Prepared | null {
    // Prepared ones are kept in the order in which they were read.
    const [oldest] = this.#prepared.values();
    return oldest ?? null;
  }

  #position(): string {
    return formatPosition({
      server: this.#options.server,
      at: this.#group?.at ?? this.#end,
      ordinal: 0,
      gtid: '',
      executed: this.#history?.text ?? '',
      from: null,
    });
  }

  #open(): Group {
    if (this.#group === null) this.#begin('', false);
    if (this.#group === null) throw this.#unproven();
    return this.#group;
  }

  #unproven(): Error {
    return mysqlError(
      'MYSQL_DECODE',
      `A transaction at ${this.#end.file}:${String(this.#end.offset)} has rows of the outbox and no end that could be read.`,
      'The stream stopped before it. Report it with the output of SHOW BINLOG EVENTS around that position.',
      { position: this.#position() },
    );
  }

  #statementError(statement: string): Error {
    return mysqlError(
      'MYSQL_STATEMENT',
      `A change of the outbox table at ${this.#end.file}:${String(this.#end.offset)} was logged as a statement (${statement}): it has no rows to read.`,
      "Set binlog_format = ROW, globally and for the sessions that write the outbox. Handle that statement's rows yourself, and start under a new pipeline name.",
      { position: this.#position() },
    );
  }

  #partialImage(index: number): Error {
    return mysqlError(
      'MYSQL_ROW_IMAGE',
      `A row of the outbox at ${this.#end.file}:${String(this.#end.offset)} was logged without its column ${String(index + 1)}, which is mapped.`,
      'Set binlog_row_image = FULL, globally and for the sessions that write the outbox.',
      { position: this.#position() },
    );
  }
}

function samePlace(a: FilePosition | null, b: FilePosition): boolean {
  return a !== null && a.file === b.file && a.offset === b.offset;
}

function printed(from: Prepared | null): { at: FilePosition; executed: string } | null {
  return from === null ? null : { at: from.at, executed: from.before?.text ?? '' };
}

/** The verb of a statement, and no value of it. */
function firstWords(text: string): string {
  return text.split(/\s+/, 2).join(' ').toUpperCase();
}
