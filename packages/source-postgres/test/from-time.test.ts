import { describe, expect, it } from 'vitest';
import { PostgresEvent, type TransactionContext } from '../src/event.js';
import { createPending, type PostgresPending } from '../src/pending.js';
import { logPosition } from '../src/position.js';
import { FromTime } from '../src/reader/from-time.js';

const transaction = (commitMicros: number): TransactionContext => ({
  xid: 700,
  commitMicros: BigInt(commitMicros),
});

/** A log that is read from 100 on, ends at 1,000, and is wanted from the time 50 on. */
class Log {
  readonly pending: PostgresPending = createPending();
  readonly time = new FromTime({
    pending: this.pending,
    time: 50n,
    text: 'a time',
    head: 1_000n,
    begins: 100n,
  });

  /** A transaction of one row, which ends there. */
  commit(end: bigint, commitMicros: number, rows = 1): void {
    const context = transaction(commitMicros);
    for (let ordinal = 1; ordinal <= rows; ordinal += 1) {
      const texts = {
        id: String(end),
        type: null,
        payloadText: null,
        headersText: null,
        columns: {},
        bytes: 1,
      };
      const position = logPosition(end - 10n, ordinal);
      this.time.event(new PostgresEvent(texts, 'k', position, 'outbox', 'text', context, ordinal), context);
    }
    this.time.passed(end, context);
  }

  get ids(): string[] {
    return (this.pending.take(() => true)?.events ?? []).map(({ id }) => id);
  }
}

describe('reading from a time', () => {
  it('leaves out what committed before, and starts at its end', () => {
    const log = new Log();
    log.commit(200n, 10);
    log.commit(300n, 49);
    expect(log.time.start).toBeNull();
    log.commit(400n, 50);
    expect([log.time.start, log.time.sawEarlier, log.ids]).toEqual([300n, true, ['400']]);
  });

  it('hands on everything behind the first one: times of commits lie a little out of order', () => {
    const log = new Log();
    log.commit(200n, 10);
    log.commit(300n, 51);
    log.commit(400n, 49);
    expect(log.ids).toEqual(['300', '400']);
  });

  it('starts where the log was read from when nothing in it is older, and knows that it saw nothing older', () => {
    const log = new Log();
    log.commit(200n, 60);
    expect([log.time.start, log.time.sawEarlier]).toEqual([100n, false]);
  });

  it('starts at the head when the log has nothing so late; what commits then is handed on if it is late enough', () => {
    const log = new Log();
    log.commit(200n, 10);
    log.time.passed(900n, null);
    expect(log.time.start).toBeNull();
    log.time.passed(1_000n, null);
    expect(log.time.start).toBe(1_000n);
    log.commit(1_100n, 49);
    log.commit(1_200n, 50);
    expect(log.ids).toEqual(['1200']);
  });

  it('counts a transaction without a row of the outbox too', () => {
    const log = new Log();
    log.commit(200n, 10, 0);
    log.commit(300n, 55, 0);
    expect([log.time.start, log.time.sawEarlier]).toEqual([200n, true]);
  });
});
