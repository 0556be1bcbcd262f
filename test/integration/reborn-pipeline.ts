import { waitUntil, type KillPoint, type PipelineProcess, type PipelineRuns } from '@strandline/test-kit';
import type { PipelineStatus } from 'strandline';

/** What one life is told besides what all are. */
export type NextLife = NonNullable<Parameters<PipelineRuns['launch']>[0]>;

/** A pipeline whose process is started again whenever it was killed, as a supervisor would do it. */
export class RebornPipeline implements AsyncDisposable {
  readonly #runs: PipelineRuns;
  #life: PipelineProcess;
  /** What ended a process that nobody had killed. */
  #fault: Error | null = null;
  #broken: readonly string[] = [];
  #next: NextLife = {};
  #kills = 0;
  readonly #planted: string[] = [];
  #stopping = false;

  constructor(runs: PipelineRuns) {
    this.#runs = runs;
    this.#life = this.#launch();
  }

  /** How many lives were ended by SIGKILL. */
  get kills(): number {
    return this.#kills;
  }

  /** Where its lives were to end, for the message of a test that fails. */
  get planted(): string {
    return this.#planted.join('\n');
  }

  /** From now on, in this life and later ones, the events with these payloads fail for good, and no others. */
  async break(...payloads: string[]): Promise<void> {
    this.#broken = payloads;
    await this.#told((life) => {
      life.break(payloads);
    });
  }

  /** This life ends at a statement to the dead-letter table, counted from now; the next one, if it is to, as well. */
  async plant(point: KillPoint | null, next: KillPoint | null = null): Promise<void> {
    this.#next = next === null ? {} : { killAt: next };
    await this.#told((life) => {
      this.#note(life, point);
      life.plant(point);
    });
  }

  /** Statements to the dead-letter table since `plant`. */
  async statements(): Promise<number> {
    return (await this.#life.report()).statements;
  }

  /** Ends this life at once; to the next ones these payloads are broken. */
  async kill(broken: readonly string[], next: NextLife): Promise<void> {
    this.#broken = broken;
    this.#next = next;
    await this.#life.kill();
  }

  /** The next life begins when this one has ended in order. */
  async restart(next: NextLife): Promise<void> {
    await this.stop();
    this.#stopping = false;
    this.#next = next;
    this.#life = this.#launch();
  }

  /** Resolves once a life, be it this or a later one, looks like this. */
  untilStatus(what: string, condition: (status: PipelineStatus) => boolean): Promise<unknown> {
    return this.until(what, async () => condition((await this.#life.report()).status));
  }

  /** Looks until something holds, whatever ends meanwhile, unless a process ends by itself. */
  until(what: string, look: () => Promise<boolean> | boolean): Promise<unknown> {
    return waitUntil(what, async () => {
      if (this.#fault !== null) throw this.#fault;
      const { run } = this.#life;
      try {
        return await look();
      } catch (error) {
        if (this.#life.run === run) throw error;
        return false;
      }
    }).catch((error: unknown) => {
      throw new Error(`${String(error)} Kills were planted in\n${this.planted}`, { cause: error });
    });
  }

  /**
   * Lets this life end in order; it is the last one unless there is a restart.
   *
   * @param done awaited before the end of a life that has to come after all
   */
  async stop(done: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
    for (;;) {
      // A kill that was planted and not reached would come at the statements of a stop.
      await this.plant(null);
      this.#stopping = true;
      const { code, signal } = await this.#life.stop();
      if (code === 0) return;
      if (signal !== 'SIGKILL')
        throw new Error(`The pipeline did not stop in order. It said:\n${this.#life.log}`);
      // It was reached, and comes some time after its statement.
      this.#kills += 1;
      this.#stopping = false;
      this.#life = this.#launch();
      await done();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    await this.#life[Symbol.asyncDispose]();
  }

  #launch(): PipelineProcess {
    const life = this.#runs.launch({
      behaviour: { delay: 3, delays: { slow: 60 }, broken: this.#broken },
      ...this.#next,
    });
    this.#note(life, this.#next.killAt ?? null);
    this.#next = {};
    // The first to hear of the end: who waits for an answer of this life finds the next one.
    void life.exited.then(({ signal }) => {
      if (this.#stopping) return;
      if (signal === 'SIGKILL') {
        this.#kills += 1;
        this.#life = this.#launch();
      } else {
        this.#fault = new Error(`The pipeline ended by itself. It said:\n${life.log}`);
      }
    });
    return life;
  }

  #note({ run }: PipelineProcess, point: KillPoint | null): void {
    if (point !== null) this.#planted.push(`run ${String(run)}: ${point.instant} ${String(point.statement)}`);
  }

  #told(tell: (life: PipelineProcess) => void): Promise<unknown> {
    // The channel keeps the order: who answers has heard what came before.
    return this.until('the process has heard it', async () => {
      const life = this.#life;
      await life.started;
      tell(life);
      await life.report();
      return true;
    });
  }
}
