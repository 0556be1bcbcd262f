import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileHistory } from '@strandline/test-kit';
import type { Peer, PeerPlace, PeerProcess } from './peer.js';
import { withDeadline } from './with-deadline.js';

const LOOK_EVERY = 50;
/** Milliseconds in which a process has to have come up, or to have stopped, on a busy machine. */
const DEADLINE = 60_000;
/** Nothing was called for so long, in milliseconds: nothing will be. What a dead process had is free again before. */
const QUIET = 30_000;
/** And however much is called: it goes in circles. */
const AT_MOST = 300_000;

/** The lives of a peer's process, and what its handlers did in all of them. */
export class PeerRuns implements AsyncDisposable {
  readonly history: FileHistory;
  readonly #peer: Peer;
  readonly #place: PeerPlace;
  readonly #work: number;
  readonly #directory: string;
  readonly #lives: PeerProcess[] = [];

  /** @param work milliseconds that a handler takes at most */
  static async prepare(peer: Peer, place: PeerPlace, work: number): Promise<PeerRuns> {
    return new PeerRuns(peer, place, work, await mkdtemp(path.join(tmpdir(), 'strandline-bench-')));
  }

  private constructor(peer: Peer, place: PeerPlace, work: number, directory: string) {
    this.#peer = peer;
    this.#place = place;
    this.#work = work;
    this.#directory = directory;
    this.history = new FileHistory(this.#file);
  }

  /** The next life; resolves when it looks for rows. */
  async start(): Promise<void> {
    const run = this.#lives.length + 1;
    const life = this.#peer.start(this.#place, { kind: 'history', file: this.#file, run, work: this.#work });
    this.#lives.push(life);
    await withDeadline('coming up', DEADLINE, life.ready);
  }

  /** SIGKILL for the life that is. */
  async kill(): Promise<void> {
    const at = Date.now();
    await this.#lives.at(-1)?.kill();
    this.history.end(this.#lives.length, 'cut short', at);
  }

  async stop(): Promise<void> {
    const life = this.#lives.at(-1);
    if (life !== undefined) await withDeadline('stopping', DEADLINE, life.stop());
    this.history.end(this.#lives.length, 'stopped');
  }

  /** Resolves once so many rows have succeeded, or no more are to be expected. */
  async untilSucceeded(count: number): Promise<void> {
    const giveUpAt = Date.now() + AT_MOST;
    let before = -1;
    let since = Date.now();
    for (;;) {
      const { entries, succeeded } = this.history.refresh();
      if (succeeded.size >= count) return;
      if (entries.length !== before) [before, since] = [entries.length, Date.now()];
      if (Date.now() - since > QUIET || Date.now() > giveUpAt) return;
      await sleep(LOOK_EVERY);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const life of this.#lives) await life.kill();
    this.history[Symbol.dispose]();
    await rm(this.#directory, { recursive: true, force: true });
  }

  get #file(): string {
    return path.join(this.#directory, 'history.jsonl');
  }
}
