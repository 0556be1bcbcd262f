import { PermanentError, type Offset, type OutboxEvent } from '@strandline/core';
import type { Handler, PipelineOptions } from '../../src/config.js';
import { definePipeline, type Pipeline } from '../../src/pipeline.js';
import type { FakeLetters } from '../fake-letters.js';
import { event, FakeStore, gate, type Gate, keptLog, offsetAt, STEADY, until } from '../fixtures.js';
import { ScriptedSource, ScriptedStream } from '../scripted-source.js';

/** One event per letter of `keys`, numbered from `first`. */
export function events(keys: string, first = 1): OutboxEvent[] {
  return Array.from({ length: keys.length }, (_, i) => event(keys.charAt(i), first + i));
}

/** A pipeline that runs, whose handlers fail for the events named `bad`, and wait for a gate for those named `slow`. */
export class ControlWorld {
  readonly store: FakeStore;
  readonly kept = keptLog();
  readonly stream: ScriptedStream;
  readonly pipeline: Pipeline;
  readonly seen: string[] = [];
  readonly bad = new Set<string>();
  /** Events whose first failure is for good. */
  readonly hopeless = new Set<string>();
  /** What else the handlers of events throw. */
  readonly throws = new Map<string, () => unknown>();
  readonly slow = new Map<string, Gate>();

  constructor(
    letters: FakeLetters | null = null,
    options: Partial<PipelineOptions> = {},
    store = new FakeStore(),
    offset: Offset = offsetAt(0),
  ) {
    this.store = store;
    this.stream = new ScriptedStream(offset);
    this.pipeline = definePipeline({
      name: 'shop',
      source: new ScriptedSource(() => Promise.resolve(this.stream)),
      offsets: store,
      retry: STEADY,
      commitInterval: 1,
      log: this.kept.log,
      ...(letters === null ? {} : { deadLetters: letters, parking: { poll: 10 } }),
      ...options,
      batch: undefined,
      handle: this.handle,
    });
  }

  readonly handle: Handler = async ({ id }) => {
    this.seen.push(id);
    await this.slow.get(id)?.promise;
    if (this.hopeless.has(id)) throw new PermanentError('hopeless');
    const thrown = this.throws.get(id);
    if (thrown !== undefined) throw thrown();
    if (this.bad.has(id)) throw Object.assign(new Error('bad\nsecret'), { code: 'E_BAD' });
  };

  async start(): Promise<this> {
    await this.pipeline.start();
    return this;
  }

  /** The handler of the event runs until the gate is opened. */
  slowDown(id: string): Gate {
    const made = gate();
    this.slow.set(id, made);
    return made;
  }

  async untilSeen(...ids: string[]): Promise<void> {
    await until(`${ids.join(', ')} were handled`, () => ids.every((id) => this.seen.includes(id)));
  }

  async untilState(key: string, state: string): Promise<void> {
    let found: string | undefined;
    await until(`the key ${key} is ${state}`, () => {
      void this.pipeline.strands({ search: key }).then(({ strands }) => {
        found = strands.find((one) => one.key === key)?.state;
      });
      return found === state;
    });
  }

  async untilSettled(n: number): Promise<void> {
    await until(`${String(n)} is settled`, () => this.pipeline.status().watermark === `p${String(n)}`);
  }
}
