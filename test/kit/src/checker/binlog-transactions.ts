import type { BinlogEvent } from './binlog-events.js';
import type { CommittedRow } from './committed-log.js';

type Row = Pick<CommittedRow, 'id' | 'key'>;

/** A transaction that was begun. */
interface Group {
  readonly gtid: string;
  rows: Row[];
  /** False for a statement that is a transaction by itself. */
  hasBegun: boolean;
  /** How many rows there were. */
  readonly savepoints: Map<string, number>;
}

/**
 * Puts the events of a binlog together to what has committed: a transaction counts at its commit, one that XA has
 * prepared at its XA COMMIT, which can come much later.
 */
export class BinlogTransactions {
  readonly committed: CommittedRow[] = [];
  /** Where the next reading of this file can begin: behind the last transaction that is whole. */
  offset: number;
  /** By the XA transaction's name: what was prepared and not decided. */
  readonly prepared: Map<string, readonly Row[]>;
  #open: Group | null = null;

  constructor(offset: number, prepared: ReadonlyMap<string, readonly Row[]>) {
    this.offset = offset;
    this.prepared = new Map(prepared);
  }

  take(event: BinlogEvent): void {
    switch (event.what) {
      case 'group':
        if (this.#open !== null) throw new Error(`${event.gtid} begins inside ${this.#open.gtid}.`);
        this.#open = { gtid: event.gtid, rows: [], hasBegun: false, savepoints: new Map() };
        break;
      case 'insert':
        this.#group('a row').rows.push({ id: event.id, key: event.key });
        break;
      case 'statement':
        this.#statement(event.text);
        break;
      case 'xid':
        this.#commit(this.#group('a commit').rows);
        break;
      case 'end':
        if (this.#open === null) this.offset = Math.max(this.offset, event.offset);
    }
  }

  #statement(text: string): void {
    const group = this.#group(text);
    const [, verb, name = ''] =
      /^XA (START|END|PREPARE|COMMIT|ROLLBACK) (X'.*?)( ONE PHASE)?$/.exec(text) ?? [];
    const [, to, savepoint = ''] = /^(SAVEPOINT|ROLLBACK TO) (.+)$/.exec(text) ?? [];
    if (verb !== undefined) this.#xa(group, verb, name);
    else if (to === 'SAVEPOINT') group.savepoints.set(savepoint, group.rows.length);
    else if (to === 'ROLLBACK TO') group.rows = group.rows.slice(0, group.savepoints.get(savepoint) ?? 0);
    else if (text === 'BEGIN' || text === 'START TRANSACTION') group.hasBegun = true;
    else if (text === 'COMMIT') this.#commit(group.rows);
    else if (text === 'ROLLBACK') this.#open = null;
    else if (!group.hasBegun) this.#commit([]);
  }

  #xa(group: Group, verb: string, name: string): void {
    if (verb === 'START') {
      group.hasBegun = true;
    } else if (verb === 'PREPARE') {
      this.prepared.set(name, group.rows);
      this.#open = null;
    } else if (verb === 'COMMIT') {
      // In one phase it has its rows itself. One that was prepared before the first reading has none of this outbox.
      this.#commit(group.hasBegun ? group.rows : (this.prepared.get(name) ?? []));
      this.prepared.delete(name);
    } else if (verb === 'ROLLBACK') {
      this.prepared.delete(name);
      this.#open = null;
    }
  }

  #commit(rows: readonly Row[]): void {
    const transaction = this.#group('a commit').gtid;
    this.committed.push(...rows.map((row) => ({ ...row, transaction })));
    this.#open = null;
  }

  #group(what: string): Group {
    if (this.#open !== null) return this.#open;
    throw new Error(`The binlog has this outside of a transaction: ${what.slice(0, 120)}`);
  }
}
