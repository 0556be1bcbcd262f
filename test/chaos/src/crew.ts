import { setTimeout as sleep } from 'node:timers/promises';
import {
  lifeOfTerm,
  PipelineProcess,
  type FileHistory,
  type PipelineProcessOptions,
} from '@strandline/test-kit';
import { Life } from './life.js';
import type { Timeline } from './timeline.js';

/** What a service manager waits before it starts a service again. */
const RESTART_AFTER = 300;
/** Handlers in flight get 30 s to end, by default. */
const STOP_WITHIN = 60_000;

export interface CrewOptions {
  readonly history: FileHistory;
  readonly timeline: Timeline;
  readonly seats: number;
  /** What the next life in this seat is told. */
  readonly options: (seat: number, run: number) => PipelineProcessOptions;
  /** A process has ended because the offset got lost: an operator's turn, before it is started again. */
  readonly offsetLost: () => Promise<void>;
}

/** Processes of one pipeline, each in its seat, and who starts them again when they end. */
export class Crew implements AsyncDisposable {
  readonly #options: CrewOptions;
  readonly #lives: Life[] = [];
  readonly #unexpected: { readonly at: number; readonly says: string; readonly life: Life }[] = [];
  readonly #excused = new Map<string, number>();
  #isClosing = false;

  constructor(options: CrewOptions) {
    this.#options = options;
    for (let seat = 0; seat < options.seats; seat += 1) this.#launch(seat);
  }

  /** All there were. */
  get lives(): readonly Life[] {
    return this.#lives;
  }

  get alive(): readonly Life[] {
    return this.#lives.filter((life) => life.isAlive);
  }

  /** Ends that nobody wanted and nothing excuses. */
  get unexpected(): readonly { readonly at: number; readonly says: string; readonly life: Life }[] {
    return this.#unexpected;
  }

  /** How often processes have ended with an error, by its code, for a reason that was struck. */
  get excused(): ReadonlyMap<string, number> {
    return this.#excused;
  }

  /** The one whose handlers were called last, if it lives; else the first that does. */
  owner(): Life | undefined {
    const { entries } = this.#options.history.refresh();
    const latest = lifeOfTerm(entries.at(-1)?.run ?? 0);
    return this.alive.find(({ run }) => run === latest) ?? this.alive[0];
  }

  /** Lets all of them end in order, the owner last: nobody has to take over any more. */
  async stop(): Promise<void> {
    this.#isClosing = true;
    const owner = this.owner();
    for (const life of this.alive.filter((other) => other !== owner)) await this.stopOne(life);
    if (owner !== undefined) await this.stopOne(owner);
  }

  async stopOne(life: Life): Promise<void> {
    const timer = new AbortController();
    const late = sleep(STOP_WITHIN, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const);
    const exit = await Promise.race([life.stop(), late]);
    timer.abort();
    if (exit === 'late') {
      this.#note(life, `did not stop in order within ${String(STOP_WITHIN / 1_000)} s`);
      await life.kill();
    } else if (exit.code !== 0 && !life.wasKilled) {
      // The stop may have come while it was starting.
      this.#judgeEnd(life, 'was to stop in order, and ended');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    for (const { process } of this.#lives) await process[Symbol.asyncDispose]();
  }

  #launch(seat: number): void {
    if (this.#isClosing) return;
    const run = this.#lives.length + 1;
    const life = new Life(new PipelineProcess(this.#options.options(seat, run)), seat);
    this.#lives.push(life);
    this.#options.timeline.note(`run ${String(life.run)} begins in seat ${String(seat)}`);
    void life.process.exited.then(() => this.#ended(life));
  }

  async #ended(life: Life): Promise<void> {
    this.#options.timeline.note(
      `run ${String(life.run)} has ended: ${JSON.stringify(life.exit)}${errorOf(life)}`,
    );
    if (!life.isMeantToEnd) this.#judgeEnd(life, 'ended by itself');
    if (this.#isClosing) return;
    await sleep(RESTART_AFTER);
    if (life.process.error?.code === 'MYSQL_OFFSET_MISSING') await this.#options.offsetLost();
    this.#launch(life.seat);
  }

  /** Nobody has made it end like that: it says why, and something that was done to it is the reason. */
  #judgeEnd(life: Life, how: string): void {
    const { error } = life.process;
    const excuse = error === null ? undefined : this.#options.timeline.excuse(error.code);
    if (error === null || excuse === undefined) {
      this.#note(life, `${how} with ${JSON.stringify(life.exit)}${errorOf(life)}`);
      return;
    }
    const reason = `${error.code} after ${excuse.name}`;
    this.#excused.set(reason, (this.#excused.get(reason) ?? 0) + 1);
  }

  #note(life: Life, what: string): void {
    const says = `run ${String(life.run)} ${what}`;
    this.#unexpected.push({ at: Date.now(), says, life });
    this.#options.timeline.note(says);
  }
}

function errorOf({ process: { error } }: Life): string {
  return error === null ? '' : `, ${error.code}: ${error.message}`;
}
