import fc from 'fast-check';
import type { Committed } from '../src/checker/commit-order.js';
import type { HistoryEntry } from '../src/history.js';

/** All that the judge is given, and what it has to find besides faults. */
export interface Run {
  committed: Committed[];
  calls: HistoryEntry[];
  readonly ended: Map<number, number>;
  readonly stopped: Set<number>;
  readonly paused: Map<number, number[]>;
  /** Started in more than one life. */
  readonly duplicates: Set<string>;
}

/** What draws the run's choices. */
export type Draw = fc.GeneratorValue;

const ends = ['killed', 'stopped', 'paused'] as const;
type End = (typeof ends)[number] | 'last';

interface Call {
  readonly ids: readonly string[];
  readonly attempt: number;
}

/** One life of a pipeline, over all keys. */
interface Life {
  readonly run: number;
  /** Per key: place of the next event. */
  readonly next: Map<string, number>;
  readonly running: Map<string, Call>;
  readonly failed: Map<string, Call>;
}

/**
 * A pipeline that does everything right, in several lives: it calls keys side by side, in batches, some of which fail;
 * it is killed, stopped, or paused and replaced, and what it then had in flight ends in the middle of its successor.
 */
export class CorrectRun {
  readonly run: Run;
  readonly #draw: Draw;
  readonly #keys = new Map<string, string[]>();
  readonly #succeeded = new Set<string>();
  readonly #seenIn = new Map<string, number>();
  /** Per key: what a life that stopped in order has saved. */
  readonly #saved = new Map<string, number>();
  /** Lives that were paused and have calls in flight. */
  #paused: Life[] = [];
  #clock = 0;

  static of(draw: Draw): Run {
    const { run } = new CorrectRun(draw);
    return run;
  }

  private constructor(draw: Draw) {
    this.#draw = draw;
    const committed = Array.from({ length: this.#upTo(14) + 1 }, (_, index) => {
      const id = String(index + 1);
      const key = `k${String(this.#upTo(2))}`;
      this.#keys.set(key, [...(this.#keys.get(key) ?? []), id]);
      return { id, key, position: `p${id}` };
    });
    const [ended, stopped, paused] = [
      new Map<number, number>(),
      new Set<number>(),
      new Map<number, number[]>(),
    ];
    this.run = { committed, calls: [], ended, stopped, paused, duplicates: new Set() };
    const lives = this.#upTo(3) + 1;
    for (let run = 1; run < lives; run += 1) this.#live(run, ends[this.#upTo(2)] ?? 'killed');
    this.#live(lives, 'last');
  }

  #live(run: number, end: End): void {
    const life: Life = { run, next: new Map(), running: new Map(), failed: new Map() };
    for (const key of this.#keys.keys()) {
      const [least, most] = [this.#saved.get(key) ?? 0, this.#firstUnsettled(key)];
      life.next.set(key, least + this.#upTo(most - least));
    }
    const steps = end === 'last' ? Infinity : this.#upTo(25);
    for (let step = 0; step < steps && this.#step(life); step += 1);
    if (end === 'killed') this.run.ended.set(run, this.#tick());
    if (end === 'paused') {
      this.run.paused.set(run, [this.#tick()]);
      this.#paused.push(life);
    }
    if (end === 'stopped') {
      for (const key of life.running.keys()) this.#end(life, key);
      this.run.ended.set(run, this.#tick());
      this.run.stopped.add(run);
      for (const key of this.#keys.keys()) this.#saved.set(key, this.#firstUnsettled(key));
    }
  }

  /** Starts or ends a call, be it of a predecessor; false when there is nothing left to do. */
  #step(life: Life): boolean {
    const [late] = this.#paused.filter(({ running }) => running.size > 0);
    const [lateKey] = late?.running.keys() ?? [];
    if (late !== undefined && lateKey !== undefined && this.#upTo(4) === 0) {
      this.#end(late, lateKey);
      return true;
    }
    const open = [...this.#keys.keys()].filter(
      (key) => life.running.has(key) || this.#left(life, key).length > 0,
    );
    if (open.length === 0) return false;
    const key = open[this.#upTo(open.length - 1)] ?? '';
    if (life.running.has(key)) this.#end(life, key);
    else this.#start(life, key);
    return true;
  }

  #start(life: Life, key: string): void {
    const failed = life.failed.get(key);
    const ids = failed?.ids ?? this.#left(life, key).slice(0, this.#upTo(2) + 1);
    const call = { ids, attempt: (failed?.attempt ?? 0) + 1 };
    life.running.set(key, call);
    for (const id of ids) {
      const seenIn = this.#seenIn.get(id) ?? life.run;
      if (seenIn !== life.run) this.run.duplicates.add(id);
      this.#seenIn.set(id, seenIn);
    }
    this.#write('started', life.run, key, call);
  }

  #end(life: Life, key: string): void {
    const call = life.running.get(key);
    if (call === undefined) return;
    life.running.delete(key);
    if (this.#upTo(3) === 0) {
      life.failed.set(key, call);
      this.#write('failed', life.run, key, call);
    } else {
      life.failed.delete(key);
      life.next.set(key, (life.next.get(key) ?? 0) + call.ids.length);
      for (const id of call.ids) this.#succeeded.add(id);
      this.#write('succeeded', life.run, key, call);
    }
  }

  #write(what: HistoryEntry['what'], run: number, key: string, { ids, attempt }: Call): void {
    const positions = ids.map((id) => `p${id}`);
    this.run.calls.push({ what, run, attempt, key, ids, positions, at: this.#tick() });
  }

  #left(life: Life, key: string): string[] {
    return (this.#keys.get(key) ?? []).slice(life.next.get(key) ?? 0);
  }

  #firstUnsettled(key: string): number {
    const ids = this.#keys.get(key) ?? [];
    const place = ids.findIndex((id) => !this.#succeeded.has(id));
    return place < 0 ? ids.length : place;
  }

  #tick(): number {
    return (this.#clock += 1);
  }

  #upTo(most: number): number {
    return this.#draw(fc.nat, { max: most });
  }
}
