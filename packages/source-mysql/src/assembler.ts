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
import type { LogPlace } from './log-place.js';
import { formatPosition, WHOLE, type FilePosition } from './position.js';
import type { RowMapper } from './row-mapper.js';
import { canonicalXid, readStatement, type Statement } from './statements.js';

/** Rows of transactions whose end was not read yet, held in memory; what has more is read again once it is proven. */
const HELD = { rows: 4_096, bytes: 16 * 1024 * 1024 };

/** A transaction in the log. */
export interface GroupPlace {
  readonly gtid: string;
  readonly at: FilePosition;
}

/** How a transaction ended, that is read again from its start. */
export interface Proven {
  readonly group: GroupPlace;
  /** Rows of it, by their place among all that it has, that a rollback to a savepoint took back: [from, to). */
  readonly dropped: readonly (readonly [number, number])[];
  /** For what was prepared by XA: the transaction that decided it. */
  readonly decision: Decision | null;
}

export interface Decision {
  readonly group: GroupPlace;
  readonly executed: string;
  readonly timestamp: number;
  /** Where reading must resume while it is under way. */
  readonly from: LogPlace;
  /** Where it ends. */
  readonly end: FilePosition;
  /** What is read behind it. */
  readonly next: Reading;
  /** Where reading must resume then. */
  readonly later: LogPlace | null;
}

/** What to read, and what of it was handed over before. */
export interface Reading {
  readonly start: LogPlace;
  /** Nothing is handed over before this transaction, whose rows are handed over as they come. */
  readonly proven: Proven | null;
  /** Nothing is handed over up to and with this transaction. */
  readonly behind: GroupPlace | null;
}

export interface AssemblerOptions {
  readonly flavour: Flavour;
  readonly server: string;
  readonly schema: string;
  readonly table: string;
  readonly gtids: boolean;
  readonly reading: Reading;
  /** The mapper of the layout that a table map tells. */
  mapperFor(map: TableMapEvent): RowMapper;
  /** Does a statement that changes rows touch the outbox? It has no rows to read then. */
  touchesOutbox(statement: string, database: string): boolean;
  /** A statement of another kind was logged, such as DDL. Throws when rows can't be told any more behind it. */
  statement(text: string, database: string, place: GroupPlace): void;
}

export interface AssemblerSink {
  event(event: MysqlEvent, context: TransactionContext): void;
  /** Everything up to here has been handed over. */
  passed(position: () => string): void;
  /** The dump is of no more use: the log must be read elsewhere. */
  readAgain(reading: Reading): void;
}

interface Savepoint {
  readonly count: number;
  readonly read: number;
}

/** One transaction, or one statement that stands alone, as far as it was read. */
interface Group extends GroupPlace {
  readonly before: HistoryMark | null;
  /** It was begun, and ends with a commit or rollback; otherwise its one statement ends it. */
  explicit: boolean;
  readonly proven: Proven | null;
  readonly rows: { readonly mapper: RowMapper; readonly row: Readonly<Record<string, unknown>> }[];
  readonly savepoints: Map<string, Savepoint>;
  readonly dropped: (readonly [number, number])[];
  /** Rows that are not rolled back, and all of them. */
  count: number;
  read: number;
  bytes: number;
  overflown: boolean;
  timestamp: number;
  context: TransactionContext | null;
  mapper: RowMapper | null;
  tableId: number;
}

/** Rows of an XA transaction that was prepared and is not decided yet. */
interface Prepared extends GroupPlace {
  /** Null when there are too many to hold. */
  readonly rows: Group['rows'] | null;
  readonly dropped: Group['dropped'];
  readonly count: number;
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
 *
 * A transaction with more rows than are held is not handed over at its end: it asks to be read again.
 */
export class Assembler {
  readonly #options: AssemblerOptions;
  readonly #sink: AssemblerSink;
  readonly #history: History | null;
  readonly #prepared = new Map<string, Prepared>();
  #preparedRows = 0;
  #end: FilePosition = { file: '', offset: 4 };
  #group: Group | null = null;
  /** What is read was handed over before. */
  #known: boolean;
  #stopped = false;

  constructor(options: AssemblerOptions, sink: AssemblerSink) {
    const { reading, gtids, flavour } = options;
    this.#options = options;
    this.#sink = sink;
    this.#history = gtids ? new History(flavour, reading.start.executed) : null;
    this.#known = reading.proven !== null || reading.behind !== null;
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
    if (type !== EVENT_TYPES.loadQuery) throw this.#unknown(type);
    const text = body.toString('latin1');
    if (this.#options.touchesOutbox(text, '')) throw this.#statementError('LOAD DATA');
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
      case 'Format':
        this.#enterFile(event);
        return;
      case 'Rotate':
        this.#rotate(event as RotateEvent);
        return;
      default:
        if (this.#group === null) this.#idle(event);
    }
  }

  #begin(gtid: string, explicit: boolean): void {
    this.#finishStandalone();
    const place = { gtid, at: this.#end };
    const { proven } = this.#options.reading;
    const isProven = proven !== null && isSame(proven.group, place);
    if (isProven) this.#known = false;
    // No spread: with so many fields behind it, it costs 15 µs a transaction.
    this.#group = {
      gtid,
      at: place.at,
      before: this.#history?.mark() ?? null,
      explicit,
      proven: isProven ? proven : null,
      rows: [],
      savepoints: new Map(),
      dropped: [],
      count: 0,
      read: 0,
      bytes: 0,
      overflown: false,
      timestamp: 0,
      context: null,
      mapper: null,
      tableId: -1,
    };
  }

  /** A group of one statement, such as DDL, has no commit: the next group ends it. */
  #finishStandalone(): void {
    const group = this.#group;
    if (group === null) return;
    if (group.read > 0) throw this.#unproven();
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
    group.bytes += event.size;
    for (const row of event.rows) this.#row(group, mapper, row);
  }

  #row(group: Group, mapper: RowMapper, row: Readonly<Record<string, unknown>>): void {
    const { proven, read } = group;
    group.read += 1;
    if (proven?.dropped.some(([from, to]) => read >= from && read < to) === true) return;
    group.count += 1;
    if (proven !== null) {
      group.context ??= this.#contextOf(group, proven);
      this.#sink.event(mapper.toEvent(row, group.context, group.count), group.context);
      return;
    }
    if (group.overflown) return;
    group.rows.push({ mapper, row });
    if (group.rows.length <= HELD.rows && group.bytes <= HELD.bytes) return;
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
        this.#open().explicit = true;
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
        group.savepoints.set(statement.name, { count: group.count, read: group.read });
        return;
      }
      case 'rollbackTo':
        this.#rollbackTo(statement.name);
        return;
      case 'change':
        if (this.#options.touchesOutbox(statement.text, event.schema))
          throw this.#statementError(firstWords(statement.text));
        this.#passStatement(event);
        return;
      default:
        this.#options.statement(event.query, event.schema, this.#group ?? { gtid: '', at: this.#end });
        this.#passStatement(event);
    }
  }

  /** DDL and the like stand alone: the statement is its own transaction. */
  #passStatement(event: BinlogEvent): void {
    if (this.#group?.explicit === true) return;
    this.#moveEnd(event);
    if (this.#group !== null) this.#close(this.#group);
    else if (this.#history === null) this.#passFiles();
  }

  #commit(event: BinlogEvent): void {
    const group = this.#open();
    group.timestamp = event.timestamp;
    if (group.overflown && !this.#known) {
      const start = this.#oldestPrepared() ?? placeOf(group);
      this.#readElsewhere({
        start,
        proven: { group: bare(group), dropped: group.dropped, decision: null },
        behind: null,
      });
      return;
    }
    if (group.proven === null) this.#handOver(group, group.rows);
    this.#moveEnd(event);
    this.#close(group);
  }

  #handOver(group: Group, rows: Group['rows']): void {
    if (this.#known) return;
    const context = this.#context(group);
    rows.forEach(({ mapper, row }, index) => {
      this.#sink.event(mapper.toEvent(row, context, index + 1), context);
    });
  }

  #readElsewhere(reading: Reading): void {
    this.#stopped = true;
    this.#sink.readAgain(reading);
  }

  #drop(event: BinlogEvent): void {
    this.#moveEnd(event);
    if (this.#group !== null) this.#close(this.#group);
  }

  #prepare(event: XaPrepareEvent): void {
    const group = this.#open();
    const decision = group.proven?.decision ?? null;
    if (decision !== null) {
      this.#endOfDecided(decision);
      return;
    }
    if (event.onePhase) {
      this.#commit(event);
      return;
    }
    if (group.count > 0) this.#keepPrepared(xidOf(event), group);
    this.#moveEnd(event);
    this.#close(group);
  }

  #keepPrepared(xid: string, group: Group): void {
    const { gtid, at, before, count, dropped, overflown } = group;
    const isHeld = !overflown && this.#preparedRows + count <= HELD.rows;
    if (isHeld) this.#preparedRows += count;
    this.#prepared.set(xid, { gtid, at, before, count, dropped, rows: isHeld ? group.rows : null });
  }

  #decide(xid: string, event: BinlogEvent, committed: boolean): void {
    const group = this.#open();
    group.timestamp = event.timestamp;
    const prepared = this.#prepared.get(xid);
    if (prepared !== undefined && committed && prepared.rows === null && !this.#known) {
      this.#readDecided(xid, prepared, group, event);
      return;
    }
    // While its rows are under way, reading must resume at them.
    if (prepared !== undefined && committed) this.#handOver(group, prepared.rows ?? []);
    this.#forget(xid);
    this.#moveEnd(event);
    this.#close(group);
  }

  /** A decided XA transaction with more rows than are held: they are read from where they stand. */
  #readDecided(xid: string, prepared: Prepared, group: Group, event: BinlogEvent): void {
    const from = this.#oldestPrepared() ?? placeOf(prepared);
    this.#forget(xid);
    this.#moveEnd(event);
    if (group.gtid !== '') this.#history?.add(group.gtid);
    const later = this.#oldestPrepared();
    const behind = bare(group);
    const next: Reading =
      later === null
        ? { start: { at: this.#end, executed: this.#history?.text ?? '' }, proven: null, behind: null }
        : { start: later, proven: null, behind };
    const decision: Decision = {
      group: behind,
      executed: group.before?.text ?? '',
      timestamp: group.timestamp,
      from,
      end: this.#end,
      next,
      later,
    };
    this.#readElsewhere({
      start: placeOf(prepared),
      proven: { group: bare(prepared), dropped: prepared.dropped, decision },
      behind: null,
    });
  }

  #endOfDecided({ group, executed, end, next, later }: Decision): void {
    const { server } = this.#options;
    const { at, gtid } = group;
    const position =
      gtid === ''
        ? { server, at: end, ordinal: 0, gtid, executed: '', from: later }
        : { server, at, ordinal: WHOLE, gtid, executed, from: later };
    this.#sink.passed(() => formatPosition(position));
    this.#readElsewhere(next);
  }

  #forget(xid: string): void {
    const prepared = this.#prepared.get(xid);
    if (prepared === undefined) return;
    this.#prepared.delete(xid);
    if (prepared.rows !== null) this.#preparedRows -= prepared.count;
  }

  #rollbackTo(name: string): void {
    const group = this.#open();
    // Which rows that takes back is known already.
    if (group.proven !== null) return;
    const savepoint = group.savepoints.get(name);
    if (savepoint === undefined) throw this.#unproven();
    group.dropped.push([savepoint.read, group.read]);
    group.count = savepoint.count;
    if (!group.overflown) group.rows.length = savepoint.count;
  }

  #close(group: Group): void {
    this.#group = null;
    if (this.#history === null) {
      this.#passFiles();
    } else if (group.gtid !== '') {
      this.#history.add(group.gtid);
      const context = this.#context(group);
      if (!this.#known) this.#sink.passed(() => context.position(WHOLE));
    }
    const { behind } = this.#options.reading;
    if (behind !== null && isSame(behind, group)) this.#known = false;
  }

  /** A log that goes on in another file: what has not ended by then was cut off by a crash. */
  #rotate({ binlogName, position }: RotateEvent): void {
    if (this.#end.file !== '' && this.#end.file !== binlogName) this.#group = null;
    this.#end = { file: binlogName, offset: position };
  }

  /** Each file begins with this event, and a dump from its middle is told of it as well. */
  #enterFile({ timestamp, nextPosition }: BinlogEvent): void {
    const { file, offset } = this.#end;
    this.#end = { file, offset: Math.max(offset, nextPosition), begun: timestamp / 1_000 };
  }

  /** An event between transactions, such as a heartbeat: the log was read up to there. */
  #idle(event: BinlogEvent): void {
    if (event.nextPosition <= this.#end.offset) return;
    this.#moveEnd(event);
    if (this.#history === null) this.#passFiles();
  }

  #passFiles(): void {
    if (this.#known) return;
    const at = this.#end;
    const from = this.#oldestPrepared();
    const { server } = this.#options;
    this.#sink.passed(() => formatPosition({ server, at, ordinal: 0, gtid: '', executed: '', from }));
  }

  #moveEnd(event: BinlogEvent): void {
    if (event.nextPosition > 0) this.#end = { ...this.#end, offset: event.nextPosition };
  }

  #context(group: Group): TransactionContext {
    const { server } = this.#options;
    const { at, gtid, before } = group;
    const oldest = this.#firstPrepared();
    return {
      id: idOf(group),
      timestamp: group.timestamp,
      position: (ordinal) => {
        const from = oldest === null ? null : placeOf(oldest);
        return formatPosition({ server, at, ordinal, gtid, executed: before?.text ?? '', from });
      },
    };
  }

  /** Of rows that are handed over as they come: their transaction is the one that decided them. */
  #contextOf(group: Group, { decision }: Proven): TransactionContext {
    if (decision === null) return this.#context(group);
    const { server } = this.#options;
    const { executed, from, timestamp } = decision;
    const { at, gtid } = decision.group;
    return {
      id: idOf(decision.group),
      timestamp,
      position: (ordinal) => formatPosition({ server, at, ordinal, gtid, executed, from }),
    };
  }

  /** Where reading must resume for the sake of XA transactions that are not decided. */
  #oldestPrepared(): LogPlace | null {
    const oldest = this.#firstPrepared();
    return oldest === null ? null : placeOf(oldest);
  }

  #firstPrepared(): Prepared | null {
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

  #unknown(type: number): Error {
    return mysqlError(
      'MYSQL_DECODE',
      `The log has an event of the unknown type ${String(type)} at ${this.#end.file}:${String(this.#end.offset)}.`,
      'The stream stopped before it. The server is newer than this release: look for a newer one.',
      { position: this.#position() },
    );
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
      "Set binlog_format = ROW, globally and for the sessions that write the outbox. Handle that statement's rows yourself, and start under a new pipeline name. If it is of another table: grant select, trigger, show view and execute on *.* lets this user see that nothing leads from there to the outbox.",
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

function isSame(a: GroupPlace, b: GroupPlace): boolean {
  if (a.gtid !== '' || b.gtid !== '') return a.gtid === b.gtid;
  return a.at.file === b.at.file && a.at.offset === b.at.offset;
}

function bare({ gtid, at }: GroupPlace): GroupPlace {
  return { gtid, at };
}

function idOf({ gtid, at }: GroupPlace): string {
  return gtid === '' ? `${at.file}:${String(at.offset)}` : gtid;
}

function placeOf({ at, before }: GroupPlace & { readonly before: HistoryMark | null }): LogPlace {
  return { at, executed: before?.text ?? '' };
}

function xidOf({ xidFormatId, xidGtrid, xidBqual }: XaPrepareEvent): string {
  return canonicalXid(`X'${xidGtrid.toString('hex')}',X'${xidBqual.toString('hex')}',${String(xidFormatId)}`);
}

/** The verb of a statement, and no value of it. */
function firstWords(text: string): string {
  return text.split(/\s+/, 2).join(' ').toUpperCase();
}
