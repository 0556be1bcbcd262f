import type { Logger, RetentionStatus } from '@strandline/core';
import { formatLsn, type Lsn } from '../lsn.js';
import type { WalFacts } from '../wal-facts.js';
import { Retention, type RetentionConfig } from './retention.js';

export interface HeldLogOptions {
  readonly config: RetentionConfig;
  readonly slot: string;
  /** Where the slot stands. */
  readonly released: Lsn;
  /** What is saved: reading starts there. */
  readonly saved: Lsn;
  readonly log: Logger;
}

/** Holds the slot back behind what is saved, and lets it follow as time goes by and the log grows. */
export class HeldLog {
  readonly #options: HeldLogOptions;
  readonly #retention: Retention;

  constructor(options: HeldLogOptions) {
    this.#options = options;
    this.#retention = new Retention(options.config, options.released, performance.now());
    this.save(options.saved);
  }

  get status(): RetentionStatus {
    return this.#retention.status;
  }

  save(lsn: Lsn): void {
    this.#retention.save(lsn, performance.now());
  }

  /** Up to where the log may be released now; a limit that keeps it from holding what it should is told once. */
  release(facts: WalFacts): Lsn {
    const { log, config, slot } = this.#options;
    const before = this.status.yielded;
    this.#retention.decide(performance.now(), facts);
    const { released } = this.#retention;
    const { yielded } = this.status;
    const fields = { slot, reachesBackTo: formatLsn(released), ...config };
    if (yielded && !before) {
      log.warn(
        { ...fields, maxSlotWalKeepSize: facts.serverLimit, safeWalSize: facts.safe },
        'the log grows faster than retention may hold it: bookmarks and replays reach back less far than it is set to',
      );
    }
    if (before && !yielded) log.info(fields, 'retention holds the log back as far as it is set to again');
    return released;
  }
}
