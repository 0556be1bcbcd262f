import { createHash } from 'node:crypto';
import { OwnershipLostError } from '@strandline/core';
import { queryRows, type Connector } from './connection.js';
import { mysqlError } from './errors.js';
import type { Session } from './session.js';

/** Longest name of a lock (MySQL 5.7.5 and newer). */
const NAME_LIMIT = 64;
/** Seconds that one wait lasts at the server; then it is asked anew, which shows whether it is still there. */
const WAIT = 20;
/** The longest that a holder and its server hear nothing of each other, in milliseconds, whatever the configuration. */
const LONGEST_PATIENCE = 10_000;

/**
 * Ownership of a pipeline: GET_LOCK on a connection of its own. The server releases it when the connection
 * ends, however it ends; losing the connection is losing the pipeline.
 *
 * A connection can also be dead without a word. The server gives its holder up two times `patience` after it last
 * heard of it; the holder takes an answer that is overdue by one `patience` for a loss, so it is the first to know.
 */
export class Ownership {
  readonly #session: Session;
  readonly #patience: number;
  readonly #loss = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  /** When the question was asked that is not answered yet. */
  #askedAt: number | null = null;
  #released = false;

  private constructor(session: Session, patience: number) {
    this.#session = session;
    this.#patience = patience;
    session.onEnd((error) => {
      this.#lose(error);
    });
    this.#timer = setInterval(() => {
      this.#beat();
    }, patience / 4);
  }

  /** Waits for the lock; `standby` is told when somebody else has it. */
  static async take(
    connector: Connector,
    silenceTimeout: number,
    table: string,
    pipeline: string,
    mode: 'wait' | 'fail',
    standby: (owner: string) => void,
    signal: AbortSignal,
  ): Promise<Ownership> {
    const patience = Math.min(silenceTimeout, LONGEST_PATIENCE);
    const session = await connector.connect();
    const abort = (): void => {
      session.destroy();
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      const name = lockName(table, pipeline);
      // Before it waits: one that is cut off or stopped meanwhile is given the lock all the same, and would keep it.
      const lease = Math.ceil((2 * patience) / 1_000);
      await session.run(`set session wait_timeout = ${String(lease)}`, patience);
      if (!(await tryLock(session, name, 0, patience))) {
        const owner = await holder(session, name);
        if (mode === 'fail') throw lockHeld(pipeline, owner);
        standby(owner);
        // The server wakes us up: no polling.
        while (!(await tryLock(session, name, WAIT, patience))) signal.throwIfAborted();
      }
      return new Ownership(session, patience);
    } catch (error) {
      session.destroy();
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Aborts when the connection is lost, with an `OwnershipLostError` as its reason; not when it is released. */
  get lost(): AbortSignal {
    return this.#loss.signal;
  }

  /**
   * Resolves when the server says that the lock is held yet.
   * @throws the reason of `lost`
   */
  async confirm(): Promise<void> {
    await this.#session.run('do 0', this.#patience).catch((error: unknown) => {
      this.#lose(error);
    });
    this.lost.throwIfAborted();
  }

  release(): void {
    this.#released = true;
    clearInterval(this.#timer);
    this.#session.destroy();
  }

  #beat(): void {
    const asked = this.#askedAt;
    if (asked === null) {
      this.#askedAt = performance.now();
      this.#session.run('do 0', Infinity).then(
        () => {
          this.#askedAt = null;
        },
        (error: unknown) => {
          this.#lose(error);
        },
      );
    } else if (performance.now() - asked > this.#patience) {
      // If it was this process that stood still, the answer is there and is read before this runs.
      setImmediate(() => {
        if (this.#askedAt === asked) this.#lose(new Error('Connection lost: no word from the server'));
      });
    }
  }

  #lose(cause: unknown): void {
    if (this.#released || this.lost.aborted) return;
    clearInterval(this.#timer);
    this.#session.destroy();
    this.#loss.abort(
      new OwnershipLostError('The connection that holds the lock of this pipeline has ended.', { cause }),
    );
  }
}

/** @param patience milliseconds beyond those seconds after which the connection counts as dead */
async function tryLock(session: Session, name: string, seconds: number, patience: number): Promise<boolean> {
  const sql = 'select get_lock(?, ?) as locked';
  const [row] = await queryRows(session, sql, [name, seconds], seconds * 1_000 + patience);
  return Number(row?.['locked']) === 1;
}

async function holder(session: Session, name: string): Promise<string> {
  const [row] = await queryRows(session, 'select is_used_lock(?) as id', [name]);
  return `connection ${row?.['id'] ?? '?'}`;
}

/**
 * Names of locks hold for the whole server: pipelines of the same name over the outboxes of two applications must
 * not wait for each other. The server compares them without regard to case, and pipelines do not.
 */
export function lockName(table: string, pipeline: string): string {
  const hash = createHash('sha256').update(`${table}/${pipeline}`).digest('hex').slice(0, 24);
  return `${`strandline/${pipeline}`.slice(0, NAME_LIMIT - hash.length - 1)}/${hash}`;
}

function lockHeld(pipeline: string, owner: string): Error {
  return mysqlError(
    'MYSQL_LOCK_HELD',
    `The pipeline ${pipeline} is owned by another process (${owner}).`,
    "Stop that process, or let this one wait: mysql({ standby: 'wait' }).",
  );
}
