import type { PipelineProcess, ProcessExit } from '@strandline/test-kit';

/** Between a SIGKILL and the end of what it hits. */
const DYING = 20;

/**
 * One life of a process:
 *
 *     running ◄──pause, resume──► paused
 *        └───────── kill, stop, or by itself ──────────► ended
 */
export class Life {
  readonly process: PipelineProcess;
  readonly seat: number;
  readonly startedAt = Date.now();
  /** Moments from which on another one may have taken over without its knowing: it was stopped, or cut off. */
  readonly cuts: number[] = [];
  #isPaused = false;
  #killedAt: number | null = null;
  #stopping = false;
  #endedAt: number | null = null;
  #exit: ProcessExit | null = null;

  constructor(process: PipelineProcess, seat: number) {
    this.process = process;
    this.seat = seat;
    void process.exited.then((exit) => {
      this.#exit = exit;
      const now = Date.now();
      this.#endedAt = this.#killedAt === null ? now : Math.min(now, this.#killedAt + DYING);
    });
  }

  get run(): number {
    return this.process.run;
  }

  get isAlive(): boolean {
    return this.#exit === null && this.#killedAt === null;
  }

  /** When its process had its last moment; null while it lives. */
  get endedAt(): number | null {
    return this.#endedAt;
  }

  get exit(): ProcessExit | null {
    return this.#exit;
  }

  /** Whether somebody wanted it to end. */
  get isMeantToEnd(): boolean {
    return this.#killedAt !== null || this.#stopping;
  }

  get wasKilled(): boolean {
    return this.#killedAt !== null;
  }

  async kill(): Promise<void> {
    this.#killedAt ??= Date.now();
    await this.process.kill();
  }

  /** Lets it drain; one that is paused goes on first. */
  stop(): Promise<ProcessExit> {
    this.#stopping = true;
    this.resume();
    return this.process.stop();
  }

  pause(): void {
    if (this.#isPaused || !this.isAlive) return;
    this.#isPaused = true;
    this.cutOff();
    this.process.signal('SIGSTOP');
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.process.signal('SIGCONT');
  }

  cutOff(): void {
    this.cuts.push(Date.now());
  }
}
