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

/** Everything that was changed through this server: a line of the log each, and the last ones at hand. */
export class AuditLog {
  readonly #log: Logger;
  readonly #last: AuditEntry[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  add(entry: AuditEntry): void {
    this.#last.push(entry);
    if (this.#last.length > KEPT) this.#last.shift();
    this.#log.info({ audit: entry }, `audit: ${entry.action}`);
  }

  /** The last ones, newest first. */
  last(limit: number): readonly AuditEntry[] {
    return this.#last.slice(-limit).reverse();
  }
}
