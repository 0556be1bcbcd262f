import { setTimeout as sleep } from 'node:timers/promises';
import {
  databaseKinds,
  faultless,
  onceEach,
  PipelineRuns,
  testOutbox,
  waitUntil,
  type PipelineProcess,
} from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';

/** Take-overs per database; `TAKE_OVERS=200` is the long run. */
const TAKE_OVERS = Number(process.env['TAKE_OVERS'] ?? 2);
/** A new owner handles events within this time after the end of the old one: ARCHITECTURE.md promises it. */
const TAKE_OVER = 2_000;
/** After a stop in order, in milliseconds. */
const HANDED_OVER = 1_000;
/** One that stands by has nothing to drain, and nothing that it waits for. */
const STANDBY_ENDS = 5_000;
const PATIENCE = { timeout: 120_000 + TAKE_OVERS * 10_000 };

/** Several processes of one pipeline, of which one works. */
class Crew {
  readonly waits: { readonly how: 'kill' | 'stop'; readonly ms: number }[] = [];
  readonly #runs: PipelineRuns;
  #members: PipelineProcess[] = [];

  constructor(runs: PipelineRuns) {
    this.#runs = runs;
  }

  async fill(size: number): Promise<void> {
    while (this.#members.length < size) this.#members.push(await this.#runs.start());
  }

  /** The one whose handlers were called last. */
  async owner(): Promise<PipelineProcess> {
    const { history } = this.#runs;
    const isMember = (run: number): boolean => this.#members.some((member) => member.run === run);
    await history.until('one of them works', () => isMember(history.entries.at(-1)?.run ?? 0));
    const run = history.entries.at(-1)?.run;
    const owner = this.#members.find((member) => member.run === run);
    if (owner === undefined) throw new Error('nobody works');
    return owner;
  }

  /** Ends the owner and waits until another one works. */
  async lose(how: 'kill' | 'stop'): Promise<void> {
    const owner = await this.owner();
    this.#members = this.#members.filter((member) => member !== owner);
    const began = Date.now();
    if (how === 'kill') await owner.kill();
    else await owner.stop();
    const ended = how === 'kill' ? began : Date.now();
    const { history } = this.#runs;
    const isNew = (run: number): boolean => this.#members.some((member) => member.run === run);
    await history.until('another one works', () =>
      history.entries.some(({ run, at }) => isNew(run) && at >= began),
    );
    const first = history.entries.find(({ run, at }) => isNew(run) && at >= began);
    this.waits.push({ how, ms: Math.max(0, (first?.at ?? Infinity) - ended) });
  }

  async stop(): Promise<void> {
    // The owner last: nobody has to take over any more.
    const owner = await this.owner();
    for (const member of this.#members.filter((other) => other !== owner)) {
      const began = Date.now();
      await member.stop();
      expect(Date.now() - began, 'the end of a standby').toBeLessThan(STANDBY_ENDS);
    }
    expect(await owner.stop()).toEqual({ code: 0, signal: null });
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

describe.each(databaseKinds)('%s: three processes of one pipeline', (kind) => {
  test(
    `lose and stop their owner ${String(TAKE_OVERS)} times at random instants: no gap, no swap, no two owners`,
    PATIENCE,
    async () => {
      await using outbox = await testOutbox(kind);
      const witness = await outbox.witness();
      await using runs = await PipelineRuns.prepare(outbox, {
        name: 'crew',
        behaviour: { delay: 5, jitter: true },
      });
      const crew = new Crew(runs);
      await crew.fill(3);
      await using writers = outbox.writers({ keys: 30, linger: 20 });
      for (let n = 0; n < TAKE_OVERS; n += 1) {
        await sleep(Math.random() * 300);
        await crew.lose(Math.random() < 0.7 ? 'kill' : 'stop');
        await crew.fill(3);
      }
      await writers.stop();
      const committed = await witness.events();
      await runs.history.untilSucceeded(committed.length);
      expect(outbox.check(committed, runs.history)).toMatchObject(faultless);
      expect(median(crew.waits.map(({ ms }) => ms)), JSON.stringify(crew.waits)).toBeLessThan(TAKE_OVER);
      await crew.stop();
    },
  );

  test(
    'are restarted one after the other: each hands over in under a second, and nothing comes twice',
    PATIENCE,
    async () => {
      await using outbox = await testOutbox(kind);
      const witness = await outbox.witness();
      await using runs = await PipelineRuns.prepare(outbox, { name: 'rolling', behaviour: { delay: 2 } });
      const crew = new Crew(runs);
      await crew.fill(3);
      await using writers = outbox.writers({ keys: 30, linger: 20 });
      await waitUntil('they work', () => runs.history.refresh().entries.length > 0);
      for (let n = 0; n < 3; n += 1) {
        await crew.lose('stop');
        await crew.fill(3);
      }
      await writers.stop();
      const committed = await witness.events();
      await runs.history.untilSucceeded(committed.length);
      expect(outbox.check(committed, runs.history)).toEqual(onceEach);
      for (const { ms } of crew.waits) expect(ms, JSON.stringify(crew.waits)).toBeLessThan(HANDED_OVER);
      await crew.stop();
    },
  );
});
