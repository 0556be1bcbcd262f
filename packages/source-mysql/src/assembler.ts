import type {
  BinlogEvent,
  GtidEvent,
  MariadbGtidEvent,
  QueryEvent,
  RotateEvent,
  RowsEvent,
  TableMapEvent,
  TransactionStart,
  XaPrepareEvent,
} from './binlog-events.js';
import { EVENT_TYPES } from './binlog-events.js';
import type { MysqlEvent, TransactionContext } from './event.js';
import { Group, type HeldRows } from './group.js';
import { History, type Flavour } from './gtids.js';
import { changedByStatement, incident, partialImage, unknownEvent, unproven } from './log-errors.js';
import { formatPosition, WHOLE, type FilePosition } from './position.js';
import { PreparedTransactions, type Prepared } from './prepared.js';
import { bare, isSame, type Decision, type GroupPlace, type Reading } from './reading.js';
import type { LogRow, RowMapper } from './row-mapper.js';
import { canonicalXid, readStatement, type Statement } from './statements.js';
import { DecidedPositions, FilePlace, placeOf, TransactionPositions } from './transaction-position.js';

export interface AssemblerOptions {
  readonly flavour: Flavour;
  readonly server: string;
  readonly schema: string;
  readonly table: string;
  readonly gtids: boolean;
  readonly reading: Reading;
  /** Bytes of the dump that were read so far. */
  read(): number;
  /** The mapper of the layout that a table map tells. */
  mapperFor(map: TableMapEvent): RowMapper;
  /** Does a statement that changes rows touch the outbox? It has no rows to read then. */
  touchesOutbox(statement: string, database: string): boolean;
  /** A statement of another kind was logged, such as DDL. Throws when rows can't be told any more behind it. */
  statement(text: string, database: string, place: GroupPlace): void;
}

export interface AssemblerSink {
  /** Rows of one transaction, in their order. */
  events(events: readonly MysqlEvent[], context: TransactionContext): void;
  /** Everything up to here has been handed over: up to the end of a transaction, or a place between two. */
  passed(place: PassedPlace): void;
  /** The dump is of no more use: the log must be read elsewhere. */
  readAgain(reading: Reading): void;
}

/**
 * Places in a file are 32-bit numbers in the log and in the command that asks for a dump. A transaction is never
 * split over two files, so its end can lie beyond; less than all of that, since a dump can lack the checksums.
 */
const REACHABLE = 0xf000_0000;

/** Makes its position when it is asked for. */
export interface PassedPlace {
  position(ordinal: number): string;
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
  readonly #prepared = new PreparedTransactions();
  /** Where the events that were read end. */
  #end: { readonly file: string; offset: number; begun: number | null } = {
    file: '',
    offset: 4,
    begun: null,
  };
  #group: Group | null = null;
  /** Of a transaction whose rows are handed over as they come. */
  #context: TransactionContext | null = null;
  /** Bytes that were read before the transaction. */
  #readBefore = 0;
  /** The rest of this file can't be asked for. */
  #unreachable = false;
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
    if (type === EVENT_TYPES.incident) throw incident(this.#at(), this.#position());
    if (type !== EVENT_TYPES.loadQuery) throw unknownEvent(type, this.#at(), this.#position());
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
      case 'FramingGtid':
        this.#begin((event as TransactionStart).gtid, (event as TransactionStart).isBegin);
        return;
      case 'Begin':
        this.#open().explicit = true;
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

  #begin(gtid: string, explicit: boolean): Group {
    this.#finishStandalone();
    const at = this.#at();
    const { proven } = this.#options.reading;
    const isProven = proven !== null && isSame(proven.group, { gtid, at });
    if (isProven) this.#known = false;
    const before = this.#history?.mark() ?? null;
    this.#readBefore = this.#options.read();
    this.#group = new Group(gtid, at, before, explicit, isProven ? proven : null);
    return this.#group;
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
    group.map(map.tableId, this.#options.mapperFor(map));
  }

  #rows(event: RowsEvent): void {
    const group = this.#open();
    const mapper = group.mapperOf(event.tableId);
    if (mapper === null) return;
    for (const index of mapper.needed) {
      const present = (event.columns_present_bitmap[index >> 3] ?? 0) & (1 << (index & 7));
      if (present === 0) throw partialImage(index, this.#at(), this.#position());
    }
    group.timestamp = event.timestamp;
    if (group.proven === null) group.hold(mapper, event.rows, event.size);
    else this.#handOn(group, mapper, event.rows);
  }

  /** Rows of a transaction that is known to have committed. */
  #handOn(group: Group, mapper: RowMapper, rows: readonly LogRow[]): void {
    const decision = group.proven?.decision ?? null;
    this.#context ??=
      decision === null ? this.#positionsOf(group) : new DecidedPositions(this.#options.server, decision);
    const events: MysqlEvent[] = [];
    for (const row of rows) {
      if (group.counts()) events.push(mapper.toEvent(row, this.#context, group.count));
    }
    if (events.length > 0) this.#sink.events(events, this.#context);
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
      case 'savepoint':
        this.#open().savepoint(statement.name);
        return;
      case 'rollbackTo':
        this.#rollbackTo(statement.name);
        return;
      case 'change':
        if (this.#options.touchesOutbox(statement.text, event.schema))
          throw this.#statementError(firstWords(statement.text));
        this.#passStatement(event);
        return;
      default:
        this.#options.statement(event.query, event.schema, this.#group ?? { gtid: '', at: this.#at() });
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
      this.#readElsewhere({
        start: this.#prepared.resumeAt ?? placeOf(group),
        proven: { group: bare(group), dropped: group.dropped, decision: null },
        behind: null,
      });
      return;
    }
    const context = this.#positionsOf(group);
    this.#handOver(group.rows, context);
    this.#moveEnd(event);
    this.#close(group, context);
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
    if (group.count > 0) this.#prepared.add(xidOf(event), group);
    this.#moveEnd(event);
    this.#close(group);
  }

  #decide(xid: string, event: BinlogEvent, committed: boolean): void {
    const group = this.#open();
    group.timestamp = event.timestamp;
    const prepared = this.#prepared.get(xid);
    if (prepared !== undefined && committed) {
      if (prepared.rows === null && !this.#known) {
        this.#readDecided(xid, prepared, group, event);
        return;
      }
      // While its rows are under way, reading must resume at them.
      this.#handOver(prepared.rows ?? [], this.#positionsOf(group));
    }
    this.#prepared.delete(xid);
    this.#moveEnd(event);
    this.#close(group);
  }

  /** A decided XA transaction with more rows than are held: they are read from where they stand. */
  #readDecided(xid: string, prepared: Prepared, group: Group, event: BinlogEvent): void {
    const from = this.#prepared.resumeAt ?? placeOf(prepared);
    this.#prepared.delete(xid);
    this.#moveEnd(event);
    if (group.gtid !== '') this.#history?.add(group.gtid);
    const later = this.#prepared.resumeAt;
    const behind = bare(group);
    const end = this.#at();
    const next: Reading =
      later === null
        ? { start: { at: end, executed: this.#history?.text ?? '' }, proven: null, behind: null }
        : { start: later, proven: null, behind };
    const decision: Decision = {
      group: behind,
      executed: group.before?.text ?? '',
      timestamp: group.timestamp,
      from,
      end,
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
    this.#sink.passed({ position: () => formatPosition(position) });
    this.#readElsewhere(next);
  }

  #rollbackTo(name: string): void {
    const group = this.#open();
    // Which rows that takes back is known already.
    if (group.proven !== null) return;
    if (!group.rollbackTo(name)) throw this.#unproven();
  }

  /** Hands over rows that committed. */
  #handOver(held: readonly HeldRows[], context: TransactionContext): void {
    if (this.#known || held.length === 0) return;
    const events: MysqlEvent[] = [];
    for (const { mapper, rows } of held)
      for (const row of rows) events.push(mapper.toEvent(row, context, events.length + 1));
    this.#sink.events(events, context);
  }

  /** @param place of its end, where its rows were handed over with that */
  #close(group: Group, place?: PassedPlace): void {
    this.#group = null;
    this.#context = null;
    if (this.#history === null) {
      this.#passFilesBehind(group);
    } else if (group.gtid !== '') {
      this.#history.add(group.gtid);
      if (!this.#known) this.#sink.passed(place ?? this.#positionsOf(group));
    }
    const { behind } = this.#options.reading;
    if (behind !== null && isSame(behind, group)) this.#known = false;
  }

  /** A log that goes on in another file: what has not ended by then was cut off by a crash. */
  #rotate({ binlogName, position }: RotateEvent): void {
    if (this.#end.file !== '' && this.#end.file !== binlogName) this.#group = null;
    this.#end = { file: binlogName, offset: position, begun: null };
    this.#unreachable = false;
  }

  /** Each file begins with this event, and a dump from its middle is told of it as well. */
  #enterFile({ timestamp, nextPosition }: BinlogEvent): void {
    this.#end.offset = Math.max(this.#end.offset, nextPosition);
    this.#end.begun = timestamp / 1_000;
  }

  /** An event between transactions, such as a heartbeat: the log was read up to there. */
  #idle(event: BinlogEvent): void {
    if (event.nextPosition <= this.#end.offset) return;
    this.#moveEnd(event);
    if (this.#history === null) this.#passFiles();
  }

  /** Where the end of a transaction has no number, reading resumes at its start, and leaves all of it out. */
  #passFilesBehind(group: Group): void {
    const length = this.#options.read() - this.#readBefore;
    this.#unreachable ||= group.at.offset + length > REACHABLE;
    if (!this.#unreachable) this.#passFiles();
    else if (!this.#known) this.#sink.passed(this.#positionsOf(group));
  }

  #passFiles(): void {
    if (this.#known || this.#unreachable) return;
    this.#sink.passed(new FilePlace(this.#options.server, this.#at(), this.#prepared.resumeAt));
  }

  #moveEnd({ nextPosition }: BinlogEvent): void {
    if (nextPosition > 0) this.#end.offset = nextPosition;
  }

  #at(): FilePosition {
    const { file, offset, begun } = this.#end;
    return begun === null ? { file, offset } : { file, offset, begun };
  }

  #positionsOf(group: Group): TransactionContext {
    const { gtid, at, before, timestamp } = group;
    // Not the group: its rows, as the library decoded them, would be held as long as its events.
    return new TransactionPositions(
      this.#options.server,
      { gtid, at, before },
      timestamp,
      this.#prepared.oldest,
    );
  }

  /** For errors: the start of the transaction that is read. */
  #place(): FilePosition {
    return this.#group?.at ?? this.#at();
  }

  #position(): string {
    return formatPosition({
      server: this.#options.server,
      at: this.#place(),
      ordinal: 0,
      gtid: '',
      executed: this.#history?.text ?? '',
      from: null,
    });
  }

  #open(): Group {
    return this.#group ?? this.#begin('', false);
  }

  #unproven(): Error {
    return unproven(this.#at(), this.#position());
  }

  #statementError(statement: string): Error {
    return changedByStatement(statement, this.#at(), this.#position());
  }
}

function xidOf({ xidFormatId, xidGtrid, xidBqual }: XaPrepareEvent): string {
  return canonicalXid(`X'${xidGtrid.toString('hex')}',X'${xidBqual.toString('hex')}',${String(xidFormatId)}`);
}

/** The verb of a statement, and no value of it. */
function firstWords(text: string): string {
  return text.split(/\s+/, 2).join(' ').toUpperCase();
}
