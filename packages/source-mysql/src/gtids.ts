import { GtidSet, MariadbGtidPosition } from '@vlasky/zongji';
import { mysqlError } from './errors.js';

/** Which of the two families a server belongs to. */
export type Flavour = 'mysql' | 'mariadb';

/**
 * What was executed up to some place of the log: a set of GTIDs on MySQL (with its holes), the last GTID of
 * each domain on MariaDB. Immutable from outside: `with` copies.
 */
export interface Executed {
  readonly text: string;
  contains(gtid: string): boolean;
  /** Whether it has all that another one has, given as its text. */
  covers(executed: string): boolean;
}

/** The text of what is executed behind a transaction, from that of what was before it. */
export function withGtid(executed: string, gtid: string): string {
  // MySQL merges on reading; MariaDB keeps one entry per domain, and the new one replaces it.
  if (gtid.includes(':')) return executed === '' ? gtid : `${executed},${gtid}`;
  const [domain] = gtid.split('-');
  const others = executed.split(',').filter((entry) => entry !== '' && entry.split('-')[0] !== domain);
  return [...others, gtid].join(',');
}

/** Reads the text that `toString` or the server printed; throws `MYSQL_POSITION` for any other. */
export function parseExecuted(flavour: Flavour, text: string): Executed {
  return flavour === 'mysql' ? mysqlSet(text) : mariadbPosition(text);
}

/** The library keeps a set, with numbers of any size; asked for each transaction, its text is quicker to look into. */
function mysqlSet(given: string): Executed {
  const text = setText(given);
  const intervals = intervalsOf(text);
  return {
    text,
    contains: (gtid) => {
      const { source, number } = splitGtid('mysql', gtid);
      const ofSource = intervals.get(source) ?? [];
      return ofSource.some(
        ([first, last]) => compareNumbers(first, number) <= 0 && compareNumbers(number, last) <= 0,
      );
    },
    // What it has already adds nothing to it.
    covers: (executed) => executed === '' || setText(text === '' ? executed : `${text},${executed}`) === text,
  };
}

/** A set's one text, merged and in order. */
function setText(given: string): string {
  return mutable('mysql', given).toString();
}

/** The intervals of `uuid:1-3:5:tag:1-2,…` by what their GTIDs have in front of the number. */
function intervalsOf(text: string): Map<string, (readonly [string, string])[]> {
  const intervals = new Map<string, (readonly [string, string])[]>();
  for (const entry of text.split(',')) {
    const [uuid = '', ...parts] = entry.split(':');
    let source = `${uuid}:`;
    for (const part of parts) {
      const isTag = !/^\d/.test(part);
      if (isTag) source = `${uuid}:${part}:`;
      const [first = '', last = first] = part.split('-');
      if (!isTag) intervals.set(source, [...(intervals.get(source) ?? []), [first, last]]);
    }
  }
  return intervals;
}

function mariadbPosition(text: string): Executed {
  const position = mutable('mariadb', text).toString();
  const last = new Map<string, string>();
  for (const entry of position.split(',')) {
    const [domain = '', , sequence] = entry.split('-');
    if (sequence !== undefined) last.set(domain, sequence);
  }
  // After a failover within a domain another server id goes on with the same numbering (gtid_strict_mode);
  // the sequence number alone then tells what came before.
  const contains = (gtid: string): boolean => {
    const of = last.get(gtid.slice(0, gtid.indexOf('-')));
    return of !== undefined && compareNumbers(splitGtid('mariadb', gtid).number, of) <= 0;
  };
  return {
    text: position,
    contains,
    // Read and printed first, as this one was: `00-1-007` is `0-1-7`.
    covers: (executed) =>
      mutable('mariadb', executed)
        .toString()
        .split(',')
        .every((gtid) => gtid === '' || contains(gtid)),
  };
}

/** A GTID as what servers and tags share, and the number behind it. */
function splitGtid(flavour: Flavour, gtid: string): { readonly source: string; readonly number: string } {
  const cut = gtid.lastIndexOf(flavour === 'mysql' ? ':' : '-') + 1;
  return { source: gtid.slice(0, cut), number: gtid.slice(cut) };
}

/** Orders the texts of whole numbers of any size. */
function compareNumbers(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Numbers of so many digits are exact. */
const EXACT_DIGITS = 15;

/**
 * The executed set, as it was before each transaction. Every event's position has its text, so it must cost next to
 * nothing: transactions mostly follow one another, and then one number in that text grows. All else goes through the
 * library's sets.
 */
export class History {
  readonly #flavour: Flavour;
  #now: HistoryMark;
  /** The GTIDs that move the number: what they have in front of theirs. Empty when there is no such number. */
  #source = '';
  #last = 0;

  constructor(flavour: Flavour, text: string) {
    this.#flavour = flavour;
    this.#now = new HistoryMark(mutable(flavour, text).toString(), '', '');
  }

  /** What is executed now. */
  mark(): HistoryMark {
    return this.#now;
  }

  add(gtid: string): void {
    const { source, number } = splitGtid(this.#flavour, gtid);
    if (source === this.#source && this.#follows(number)) {
      this.#last = Number(number);
      this.#now = new HistoryMark(this.#now.before, number, this.#now.behind);
    } else {
      this.#start(gtid, source, number);
    }
  }

  get text(): string {
    return this.#now.text;
  }

  #follows(number: string): boolean {
    // MariaDB keeps the last GTID of a domain, whichever it is; MySQL's interval goes on with its next number only.
    if (this.#flavour === 'mariadb') return true;
    return number.length <= EXACT_DIGITS && Number(number) === this.#last + 1;
  }

  /** Finds the place in the text where the number stands that the next GTID of this source will replace. */
  #start(gtid: string, source: string, number: string): void {
    const set = mutable(this.#flavour, this.text);
    addTo(set, gtid);
    const text = set.toString();
    const entries = text.split(',');
    const index = entries.findIndex((entry) => entry.startsWith(source));
    const before = entries.slice(0, index + 1).join(',');
    if (
      index < 0 ||
      !endsWithNumber(this.#flavour, before.slice(before.lastIndexOf(source) + source.length), number)
    ) {
      this.#source = '';
      this.#now = new HistoryMark(text, '', '');
      return;
    }
    this.#source = source;
    this.#last = Number(number);
    this.#now = new HistoryMark(before.slice(0, -number.length), number, text.slice(before.length));
  }
}

/** Whether the number is all that the next one changes: of a server's last interval (no tags behind it), or a domain. */
function endsWithNumber(flavour: Flavour, rest: string, number: string): boolean {
  if (flavour === 'mariadb') return rest === number;
  return /^[\d:-]+$/.test(rest) && rest.endsWith(`-${number}`);
}

/** A place in a history. */
export class HistoryMark {
  constructor(
    readonly before: string,
    readonly number: string,
    readonly behind: string,
  ) {}

  get text(): string {
    return this.before + this.number + this.behind;
  }
}

function mutable(flavour: Flavour, text: string): GtidSet | MariadbGtidPosition {
  try {
    return flavour === 'mysql'
      ? GtidSet.parse(text.replaceAll(/\s/g, ''))
      : MariadbGtidPosition.parse(text.trim());
  } catch (cause) {
    throw mysqlError(
      'MYSQL_POSITION',
      `${JSON.stringify(text)} is not what a ${flavour === 'mysql' ? 'MySQL' : 'MariaDB'} server has executed.`,
      'If the saved offset holds this, it was written by something else, or with a server of the other kind.',
      { cause },
    );
  }
}

function addTo(set: GtidSet | MariadbGtidPosition, gtid: string): void {
  if (set instanceof GtidSet) {
    set.add(gtid);
    return;
  }
  const [domainId = '0', serverId = '0', seqNo = '0'] = gtid.split('-');
  set.add({ domainId: Number(domainId), serverId: Number(serverId), seqNo });
}
