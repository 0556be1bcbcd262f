import type { RetentionStatus } from '@strandline/core';
import type { Lsn } from '../lsn.js';
import type { WalFacts } from '../wal-facts.js';
import { RememberedWatermarks } from './remembered-watermarks.js';

/** How far back the log is kept for bookmarks and replays. */
export interface RetentionConfig {
  /** Bytes; null where age alone decides. */
  readonly bytes: number | null;
  /** Milliseconds; null where bytes alone decide. */
  readonly age: number | null;
}

/**
 * The server keeps its log from where decoding would start again (restart_lsn). That moves only when what it has
 * noted as the next such place is confirmed, and it notes that place at the end of the log: so it can lag behind what is
 * confirmed as far as that lags behind the end, and what is held here must stay well under half of the server's limit.
 */
const PART_OF_SERVER_LIMIT = 1 / 3;

/** With less of the server's limit left than this, everything that is saved is released. */
const LAST_RESERVE = 1 / 4;

/**
 * Which of the saved watermarks the slot is confirmed up to: the newest that is older than the age, or one that is not
 * as old, where otherwise more bytes were kept than are allowed. Pure: time and the server's facts are told.
 */
export class Retention {
  readonly #config: RetentionConfig;
  readonly #watermarks: RememberedWatermarks;
  /** When a limit last made it release what it should have held. */
  #forcedAt: number | null = null;

  constructor(config: RetentionConfig, released: Lsn, now: number) {
    this.#config = config;
    const limits = { age: config.age ?? Infinity, bytes: config.bytes ?? Infinity };
    this.#watermarks = new RememberedWatermarks(limits, released, now);
  }

  /** Up to here the log may be released. */
  get released(): Lsn {
    return this.#watermarks.released;
  }

  get status(): RetentionStatus {
    return { heldBytes: this.#watermarks.heldBytes, yielded: this.#forcedAt !== null };
  }

  /** Everything that committed before `lsn` is settled and saved. */
  save(lsn: Lsn, now: number): void {
    this.#watermarks.save(lsn, now);
  }

  /** Decides anew what is released. */
  decide(now: number, { walEnd, serverLimit, safe }: WalFacts): void {
    const { bytes, age } = this.#config;
    const near = serverLimit !== null && safe !== null && safe < serverLimit * LAST_RESERVE;
    const allowed = near ? 0 : (serverLimit ?? Infinity) * PART_OF_SERVER_LIMIT;
    const byServer = allowed < (bytes ?? Infinity);
    this.#watermarks.releaseByAge(now);
    const forced = this.#watermarks.releaseByBytes(walEnd, Math.min(allowed, bytes ?? Infinity));
    // Without an age, to keep as many bytes as are allowed is all that was asked for.
    if (forced && (age !== null || byServer)) this.#forcedAt = now;
    else if (this.#forcedAt !== null && (age === null ? !byServer : now - this.#forcedAt >= age)) {
      this.#forcedAt = null;
    }
  }
}
