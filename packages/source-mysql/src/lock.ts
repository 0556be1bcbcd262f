import { createHash } from 'node:crypto';
import type { Connection } from 'mysql2/promise';
import { queryRows, type Connector } from './connection.js';
import { mysqlError } from './errors.js';

/** Longest name of a lock (MySQL 5.7.5 and newer). */
const NAME_LIMIT = 64;
/** Seconds that one wait lasts at the server. */
const WAIT = 3_600;
/** Seconds after which the server gives up a holder that it hears nothing of: the lease after a network cut. */
const LEASE = 20;
/** Milliseconds between signs of life of the holder. */
const BEAT = 5_000;

/**
 * Ownership of a pipeline: GET_LOCK on a connection of its own. The server releases it when the connection
 * ends, however it ends; losing the connection is losing the pipeline.
 */
export class Ownership {
  readonly #connection: Connection;
  #timer: NodeJS.Timeout | undefined;
  #lost: unknown = null;
  #onLost: (() => void) | null = null;

  private constructor(connection: Connection) {
    this.#connection = connection;
    connection.on('error', (error) => {
      this.#lose(error);
    });
    connection.on('end', () => {
      this.#lose(new Error('Connection lost: the server ended it'));
    });
    this.#timer = setInterval(() => {
      connection.query('do 0').catch((error: unknown) => {
        this.#lose(error);
      });
    }, BEAT);
  }

  /** Waits for the lock; `standby` is told when somebody else has it. */
  static async take(
    connector: Connector,
    table: string,
    pipeline: string,
    mode: 'wait' | 'fail',
    standby: (owner: string) => void,
    signal: AbortSignal,
  ): Promise<Ownership> {
    const connection = await connector.connect();
    const abort = (): void => {
      connection.destroy();
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      const name = lockName(table, pipeline);
      if (!(await tryLock(connection, name, 0))) {
        const owner = await holder(connection, name);
        if (mode === 'fail') throw lockHeld(pipeline, owner);
        standby(owner);
        // The server wakes us up: no polling.
        while (!(await tryLock(connection, name, WAIT))) signal.throwIfAborted();
      }
      await connection.query(`set session wait_timeout = ${String(LEASE)}`);
      return new Ownership(connection);
    } catch (error) {
      connection.destroy();
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** What ended it; null while it lasts. */
  get lost(): unknown {
    return this.#lost;
  }

  whenLost(listener: () => void): void {
    this.#onLost = listener;
  }

  release(): void {
    clearInterval(this.#timer);
    this.#onLost = null;
    this.#lost ??= new Error('The lock was released');
    this.#connection.destroy();
  }

  #lose(error: unknown): void {
    if (this.#lost !== null) return;
    this.#lost = error;
    clearInterval(this.#timer);
    this.#onLost?.();
  }
}

async function tryLock(connection: Connection, name: string, seconds: number): Promise<boolean> {
  const [row] = await queryRows(connection, 'select get_lock(?, ?) as locked', [name, seconds]);
  return Number(row?.['locked']) === 1;
}

async function holder(connection: Connection, name: string): Promise<string> {
  const [row] = await queryRows(connection, 'select is_used_lock(?) as id', [name]);
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
