import { GtidSet, MariadbGtidPosition } from '@vlasky/zongji';

/** Which of the two families a server belongs to. */
export type Flavour = 'mysql' | 'mariadb';

/**
 * What was executed up to some place of the log: a set of GTIDs on MySQL (with its holes), the last GTID of
 * each domain on MariaDB. Immutable from outside: `with` copies.
 */
export interface Executed {
  readonly text: string;
  contains(gtid: string): boolean;
}

/** Reads the text that `toString` or the server printed. */
export function parseExecuted(flavour: Flavour, text: string): Executed {
  return flavour === 'mysql' ? mysqlSet(text) : mariadbPosition(text);
}

function mysqlSet(text: string): Executed {
  const set = GtidSet.parse(text.replaceAll(/\s/g, ''));
  return { text: set.toString(), contains: (gtid) => set.contains(gtid) };
}

function mariadbPosition(text: string): Executed {
  const position = MariadbGtidPosition.parse(text.trim());
  return {
    text: position.toString(),
    // After a failover within a domain another server id goes on with the same numbering (gtid_strict_mode);
    // the sequence number alone then tells what came before.
    contains: (gtid) => {
      const [domain = '', , sequence = ''] = gtid.split('-');
      const last = lastOf(text, domain);
      return last !== null && BigInt(sequence) <= last;
    },
  };
}

function lastOf(position: string, domain: string): bigint | null {
  for (const entry of position.split(',')) {
    const [entryDomain, , sequence] = entry.trim().split('-');
    if (entryDomain === domain && sequence !== undefined) return BigInt(sequence);
  }
  return null;
}

/** How many GTIDs a stretch of the history holds before a new base is made. */
const STRETCH = 64;

/**
 * The executed set, as it was before each transaction, without keeping a copy for each: a base and the GTIDs
 * since. Its text is made only for positions that are saved or looked at.
 */
export class History {
  readonly #flavour: Flavour;
  readonly #current: GtidSet | MariadbGtidPosition;
  #base: string;
  #since: string[] = [];

  constructor(flavour: Flavour, text: string) {
    this.#flavour = flavour;
    this.#current = mutable(flavour, text);
    this.#base = this.#current.toString();
  }

  /** What is executed now, to be printed later. */
  mark(): HistoryMark {
    return new HistoryMark(this.#flavour, this.#base, this.#since, this.#since.length);
  }

  add(gtid: string): void {
    addTo(this.#current, gtid);
    if (this.#since.length < STRETCH) {
      this.#since.push(gtid);
      return;
    }
    this.#base = this.#current.toString();
    this.#since = [];
  }

  get text(): string {
    return this.#current.toString();
  }
}

/** A place in a history. */
export class HistoryMark {
  readonly #flavour: Flavour;
  readonly #base: string;
  readonly #since: readonly string[];
  readonly #count: number;
  #text: string | null = null;

  constructor(flavour: Flavour, base: string, since: readonly string[], count: number) {
    this.#flavour = flavour;
    this.#base = base;
    this.#since = since;
    this.#count = count;
  }

  get text(): string {
    if (this.#text !== null) return this.#text;
    const set = mutable(this.#flavour, this.#base);
    for (let i = 0; i < this.#count; i += 1) addTo(set, this.#since[i] ?? '');
    this.#text = set.toString();
    return this.#text;
  }
}

function mutable(flavour: Flavour, text: string): GtidSet | MariadbGtidPosition {
  return flavour === 'mysql'
    ? GtidSet.parse(text.replaceAll(/\s/g, ''))
    : MariadbGtidPosition.parse(text.trim());
}

function addTo(set: GtidSet | MariadbGtidPosition, gtid: string): void {
  if (set instanceof GtidSet) {
    set.add(gtid);
    return;
  }
  const [domainId = '0', serverId = '0', seqNo = '0'] = gtid.split('-');
  set.add({ domainId: Number(domainId), serverId: Number(serverId), seqNo });
}
