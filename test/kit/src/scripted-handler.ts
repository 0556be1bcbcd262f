import { setTimeout as sleep } from 'node:timers/promises';
import { PermanentError, type OutboxEvent } from '@strandline/core';
import { recorded, type Recorder } from './history.js';

/** What handlers do, as plain data. */
export interface HandlerBehaviour {
  /** Milliseconds that a handler takes; default 0. */
  readonly delay?: number;
  /** The same for single keys. */
  readonly delays?: Readonly<Record<string, number>>;
  /** Draw each delay evenly from zero up to it. */
  readonly jitter?: boolean;
  /** How often a handler of these keys fails before it succeeds, for each event anew. */
  readonly failFirst?: Readonly<Record<string, number>>;
  /** Share of the calls that fail at random, below 1. */
  readonly failRate?: number;
  /** Keys whose handlers wait until they are released; `*` stands for all of them. */
  readonly hold?: readonly string[];
  /** Payloads of events that fail for good. */
  readonly broken?: readonly string[];
}

/** The slice of a handler's context that is looked at. */
export interface TurnView {
  readonly attempt: number;
}

export class ScriptedFailure extends Error {
  override readonly name = 'ScriptedFailure';
}

/** A handler that does what it was told, and writes down what it does. */
export class ScriptedHandler {
  readonly #record: Recorder;
  readonly #behaviour: HandlerBehaviour;
  readonly #run: () => number;
  readonly #held: ReadonlySet<string>;
  #broken: ReadonlySet<string>;
  readonly #released = new Set<string>();
  #isReleased = false;
  readonly #waiting = new Map<string, (() => void)[]>();

  /** @param run what calls are written down as, or what tells it when a call begins */
  constructor(record: Recorder, behaviour: HandlerBehaviour = {}, run: number | (() => number) = 1) {
    this.#record = record;
    this.#behaviour = behaviour;
    this.#run = typeof run === 'number' ? () => run : run;
    this.#held = new Set(behaviour.hold);
    this.#broken = new Set(behaviour.broken);
  }

  /** Lets the handlers of a key go on, now and later; without one, those of all keys. */
  release(key?: string): void {
    if (key === undefined) this.#isReleased = true;
    else this.#released.add(key);
    for (const waiting of key === undefined ? [...this.#waiting.keys()] : [key]) this.step(waiting);
  }

  /** Lets the handler of a key that waits now go on; the next one waits again. */
  step(key: string): void {
    for (const go of this.#waiting.get(key) ?? []) go();
    this.#waiting.delete(key);
  }

  /** From now on the events with these payloads fail for good, and no others. */
  break(payloads: readonly string[]): void {
    this.#broken = new Set(payloads);
  }

  readonly handle = (event: OutboxEvent, ctx: TurnView): Promise<void> => this.handleBatch([event], ctx);

  readonly handleBatch = (events: readonly OutboxEvent[], { attempt }: TurnView): Promise<void> =>
    recorded(this.#record, { run: this.#run(), attempt, events }, () => this.#work(events, attempt));

  async #work(events: readonly OutboxEvent[], attempt: number): Promise<void> {
    const key = events[0]?.key ?? '';
    const { delay = 0, delays = {}, jitter = false, failFirst = {}, failRate = 0 } = this.#behaviour;
    const time = (delays[key] ?? delay) * (jitter ? Math.random() : 1);
    if (time > 0) await sleep(time);
    await this.#untilReleased(key);
    if (events.some(({ payloadText }) => this.#broken.has(payloadText ?? '')))
      throw new PermanentError('this event is broken');
    if (attempt <= (failFirst[key] ?? 0)) throw new ScriptedFailure(`attempt ${String(attempt)} is to fail`);
    if (Math.random() < failRate) throw new ScriptedFailure('this call was drawn to fail');
  }

  async #untilReleased(key: string): Promise<void> {
    const isHeld = this.#held.has(key) || this.#held.has('*');
    if (!isHeld || this.#isReleased || this.#released.has(key)) return;
    await new Promise<void>((resolve) => {
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), resolve]);
    });
  }
}
