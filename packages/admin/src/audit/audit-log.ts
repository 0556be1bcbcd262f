import type { Logger } from '@strandline/core';

/** What somebody had this process do. Nothing of a payload is in it. */
export interface AuditEntry {
  /** ISO 8601 UTC. */
  readonly at: string;
  /** `key.park`, `letters.discard`, … */
  readonly action: string;
  readonly pipeline: string;
  /** Who it was, as they call themselves, and from which address. */
  readonly by: string;
  readonly from: string;
  /** What it was about: the key, the filter, the name. */
  readonly about: Readonly<Record<string, unknown>>;
  /** `done`, or the code of the error. */
  readonly outcome: string;
}

/** Entries that are kept here; the log has all of them. */
const KEPT = 1_000;
/** Characters of a text of theirs: a key may have 65,536, and a thousand of these are too many to keep. */
const LONGEST = 1_024;

/** Everything that was asked of this server to change: a line of the log each, and the last ones at hand. */
export class AuditLog {
  readonly #last: AuditEntry[] = [];

  /** @param log where its line goes, which has all of it */
  add(entry: AuditEntry, log: Logger): void {
    this.#last.push({ ...entry, about: shortened(entry.about) as AuditEntry['about'] });
    if (this.#last.length > KEPT) this.#last.shift();
    log.info({ audit: entry }, `audit: ${entry.action}`);
  }

  /** The last ones, newest first. */
  last(limit: number): readonly AuditEntry[] {
    return this.#last.slice(-limit).reverse();
  }
}

/** What was asked, with the beginnings of its texts. The API takes nothing that is deep, or has much beside texts. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length <= LONGEST ? value : `${value.slice(0, LONGEST)}…`;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]));
}
