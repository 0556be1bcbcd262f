import type { Offset, Strand } from '@strandline/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AlreadySettled } from '../src/already-settled.js';
import { compare, event, executorFor, offsetAt, pipelineConfig, position } from './fixtures.js';

/** What an owner does: reads the next position, settles one that runs, saves, or dies and is followed by another. */
type Step = 'read' | 'save' | 'die' | { readonly settle: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Step>('read') },
  { weight: 5, arbitrary: fc.nat(20).map((settle) => ({ settle })) },
  { weight: 2, arbitrary: fc.constant<Step>('save') },
  { weight: 1, arbitrary: fc.constant<Step>('die') },
);
const script = fc.array(step, { maxLength: 200, size: 'max' });

/** An owner, from the offset that it found: it reads from the watermark on, or from some positions before it. */
class Owner {
  readonly #settled: AlreadySettled;
  readonly #executor;
  readonly #running: Strand[] = [];
  #next: number;

  constructor(found: Offset, before: number) {
    const watermark = Number(found.watermark.slice(1));
    this.#settled = new AlreadySettled(found, compare);
    this.#executor = executorFor(pipelineConfig({ concurrency: 1_000 }), watermark);
    this.#next = Math.max(0, watermark - before);
  }

  /** Returns the event that is handed to a handler by this, if one is. */
  read(): number | null {
    this.#next += 1;
    const at = position(this.#next);
    const known = this.#settled.lookUp(at);
    if (known === 'behind') return null;
    if (known === 'settled') this.#executor.pass(at);
    else this.#executor.admit(event(`k${String(this.#next)}`, this.#next));
    const strand = this.#executor.take();
    if (strand === null) return null;
    this.#running.push(strand);
    return this.#next;
  }

  /** Returns the event that is settled by this, if one runs. */
  settle(nth: number): number | null {
    const [strand] = this.#running.splice(nth % Math.max(1, this.#running.length), 1);
    if (strand === undefined) return null;
    const id = Number(strand.head.event.id);
    this.#executor.succeed(strand);
    return id;
  }

  offset(revision: number): Offset {
    const completed = this.#settled.joinedTo(this.#executor.completed());
    return offsetAt(0, { watermark: this.#executor.watermark, completed, revision });
  }
}

/** Whether an offset says of a position that it is settled. */
function saysSettled({ watermark, completed }: Offset, n: number): boolean {
  if (n <= Number(watermark.slice(1))) return true;
  return completed.some(({ first, last }) => Number(first.slice(1)) <= n && n <= Number(last.slice(1)));
}

it('after any number of crashes what was saved as settled is never handled again, and all else is', () => {
  fc.assert(
    fc.property(script, fc.nat(3), (steps, before) => {
      let saved = offsetAt(0);
      let owner = new Owner(saved, before);
      /** Settled by anybody, and what of it is saved. */
      let done = new Set<number>();
      let durable = new Set<number>();
      const places = Array.from({ length: steps.length }, (_, n) => n + 1);
      for (const [index, what] of steps.entries()) {
        if (what === 'read') {
          const handed = owner.read();
          if (handed !== null)
            expect(durable.has(handed), `${String(handed)} was saved as settled`).toBe(false);
        } else if (what === 'save') {
          saved = owner.offset(index);
          durable = new Set(done);
          const said = places.filter((n) => saysSettled(saved, n));
          expect(said).toEqual(places.filter((n) => durable.has(n)));
        } else if (what === 'die') {
          owner = new Owner(saved, before);
          done = new Set(durable);
        } else {
          const settled = owner.settle(what.settle);
          if (settled !== null) done.add(settled);
        }
      }
    }),
    { numRuns: 150 },
  );
});
