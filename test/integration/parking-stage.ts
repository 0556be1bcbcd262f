import {
  faultless,
  PipelineRuns,
  testOutbox,
  type DatabaseKind,
  type TestOutbox,
} from '@strandline/test-kit';
import {
  deadLetterDesk,
  type DeadLetter,
  type DeadLetterDesk,
  type DeadLettersOptions,
  type PipelineOptions,
} from 'strandline';
import { expect } from 'vitest';
import { RebornPipeline, type NextLife } from './reborn-pipeline.js';

const NAME = 'killed';
/** More letters than a key of these tests has. */
const PAGE = 100;

type Witness = Awaited<ReturnType<TestOutbox['witness']>>;

/** From here to there in the history, nothing of a key may be handled but its first events. */
interface Rest {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  /** Events before the one that is parked: a crash may bring them again. */
  readonly before: number;
}

/**
 * An outbox, a pipeline on it whose process is killed and started again, and the desk of somebody in another process.
 * Events are named by key and number (`a7/2` is the second one of `a7`), which is their payload too.
 */
export class ParkingStage implements AsyncDisposable {
  readonly #names = new Map<string, string>();
  readonly #lengths = new Map<string, number>();
  readonly #broken = new Set<string>();
  readonly #rests: Rest[] = [];

  static async open(
    kind: DatabaseKind,
    tuning: Pick<PipelineOptions, 'maxPerKey' | 'overflow'> = {},
  ): Promise<ParkingStage> {
    const outbox = await testOutbox(kind);
    const witness = await outbox.witness();
    const { url } = outbox;
    const letters = kind === 'postgres' ? { postgres: { url } } : { mysql: { url } };
    const runs = await PipelineRuns.prepare(outbox, {
      name: NAME,
      source: { reconnect: { maxDelay: 100 } },
      tuning: { commitInterval: 20, parking: { poll: 20 }, ...tuning },
      letters,
    });
    return new ParkingStage(outbox, witness, runs, letters);
  }

  readonly pipeline: RebornPipeline;
  readonly desk: DeadLetterDesk;

  private constructor(
    readonly outbox: TestOutbox,
    readonly witness: Witness,
    readonly runs: PipelineRuns,
    letters: DeadLettersOptions,
  ) {
    this.pipeline = new RebornPipeline(runs);
    this.desk = deadLetterDesk(letters);
  }

  /** One transaction: the next event of each of these keys. */
  async insert(...keys: string[]): Promise<void> {
    const rows = keys.map((key) => {
      const number = (this.#lengths.get(key) ?? 0) + 1;
      this.#lengths.set(key, number);
      return { key, payload: `${key}/${String(number)}` };
    });
    const ids = await this.outbox.insert(rows);
    ids.forEach((id, index) => this.#names.set(rows[index]?.payload ?? '', id));
  }

  /** These events fail for good, and no others. */
  async break(...names: string[]): Promise<void> {
    for (const name of names) this.#broken.add(name);
    await this.pipeline.break(...names);
  }

  /** Ends this life at once; to later ones these events are broken, and the next one is also told this. */
  async kill(names: readonly string[], next: NextLife): Promise<void> {
    for (const name of names) this.#broken.add(name);
    await this.pipeline.kill(names, next);
  }

  async waiting(key: string): Promise<readonly DeadLetter[]> {
    const letters = await this.desk.list(NAME, { key, state: 'waiting' }, { after: null, limit: PAGE });
    return letters.toSorted((a, b) => a.place - b.place);
  }

  /** Resolves when so many letters of a key wait, and the first of them has failed so often. */
  untilWaiting(key: string, count: number, attempts = 1): Promise<unknown> {
    return this.pipeline.until(`${String(count)} letters of ${key} wait`, async () => {
      const letters = await this.waiting(key);
      return letters.length === count && (letters[0]?.failure?.attempts ?? 0) >= attempts;
    });
  }

  /** Resolves when all that was inserted of these keys was handled. */
  untilHandled(...keys: string[]): Promise<unknown> {
    const names = keys.flatMap((key) => this.#namesOf(key));
    return this.untilSucceeded(...names);
  }

  untilSucceeded(...names: string[]): Promise<unknown> {
    const { history } = this.runs;
    return this.pipeline.until(`${names.join(', ')} have succeeded`, () => {
      history.refresh();
      return names.every((name) => history.succeeded.has(this.#idOf(name)));
    });
  }

  /** Resolves when no key is parked or released. */
  untilAllLive(): Promise<unknown> {
    return this.pipeline.untilStatus(
      'all keys are live',
      ({ parked, releasing, exhausted }) => parked === 0 && releasing.length === 0 && exhausted === 0,
    );
  }

  retry(key: string): Promise<readonly string[]> {
    return this.desk.retry(NAME, { key });
  }

  /** How much the handlers have done. */
  get moment(): number {
    return this.runs.history.refresh().entries.length;
  }

  /** Since that moment nothing may have been handled of a key but what comes `before` the letters that wait. */
  hasRested(key: string, from: number, before: number): void {
    this.#rests.push({ key, from, to: this.moment, before });
  }

  /** Ends the last life in order, and holds what all of them did against what committed. */
  async check(): Promise<void> {
    await this.pipeline.stop(() =>
      this.pipeline.until('nothing waits', async () => (await this.desk.counts(NAME)).keys === 0),
    );
    const broken = new Set([...this.#broken].map((name) => this.#idOf(name)));
    const judgement = this.outbox.check(await this.witness.events(), this.runs.history, { broken });
    expect({ ...judgement, unrest: this.#unrest() }, this.pipeline.planted).toMatchObject({
      ...faultless,
      unrest: [],
    });
    expect(await this.desk.counts(NAME)).toEqual({ keys: 0, waiting: 0, skipped: 0 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.desk.close();
    await this.pipeline[Symbol.asyncDispose]();
    await this.runs[Symbol.asyncDispose]();
    await this.outbox[Symbol.asyncDispose]();
  }

  /** What was handled of keys while it was parked. */
  #unrest(): string[] {
    const { entries } = this.runs.history;
    return this.#rests.flatMap(({ key, from, to, before }) => {
      const allowed = this.#namesOf(key)
        .slice(0, before)
        .map((name) => this.#idOf(name));
      return entries
        .slice(from, to)
        .filter((entry) => entry.key === key && entry.ids.some((id) => !allowed.includes(id)))
        .map(({ what, run, ids }) => `run ${String(run)}, key ${key}: ${what} ${ids.join()} while parked`);
    });
  }

  #namesOf(key: string): string[] {
    return Array.from({ length: this.#lengths.get(key) ?? 0 }, (_, index) => `${key}/${String(index + 1)}`);
  }

  #idOf(name: string): string {
    return this.#names.get(name) ?? expect.fail(`${name} was not inserted`);
  }
}
