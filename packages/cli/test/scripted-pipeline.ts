import type { Finding, OffsetStore, Source } from '@strandline/core';
import type { Pipeline, PipelineStatus } from '@strandline/pipeline';

/** A pipeline whose start and end the test decides, and that writes down what is done to it. */
export class ScriptedPipeline implements Pipeline {
  readonly name: string;
  readonly calls: string[] = [];
  readonly deadLetters = null;
  readonly source!: Source;
  readonly offsets!: OffsetStore;
  readonly offset!: Pipeline['offset'];
  readonly bookmarks!: Pipeline['bookmarks'];
  readonly control!: Pipeline['control'];
  readonly log!: Pipeline['log'];
  readonly handlerParts: Pipeline['handlerParts'] = [];
  readonly finished: Promise<void>;
  state: PipelineStatus['state'] = 'idle';
  readonly #finished: PromiseWithResolvers;
  readonly #started = withResolvers();

  /** @param parts the supervision of pipelines needs none of them */
  constructor(
    name: string,
    parts: Partial<
      Pick<Pipeline, 'source' | 'offsets' | 'offset' | 'bookmarks' | 'control' | 'handlerParts'>
    > = {},
  ) {
    this.name = name;
    Object.assign(this, parts);
    this.#finished = withResolvers();
    this.finished = this.#finished.promise;
  }

  start(): Promise<void> {
    this.calls.push('start');
    return this.#started.promise;
  }

  /** As the real one does, it leaves how it ended to `start` and `finished`. */
  stop(): Promise<void> {
    this.calls.push('stop');
    return Promise.resolve();
  }

  totals(): never {
    throw new Error('these tests ask for no totals');
  }

  details(): never {
    throw new Error('these tests ask for no details');
  }

  status(): PipelineStatus {
    return { state: this.state } as PipelineStatus;
  }

  diagnose(): readonly Finding[] {
    return [];
  }

  prune(): Promise<never> {
    return Promise.reject(new Error('this test prunes nothing'));
  }

  replay(): Promise<never> {
    return Promise.reject(new Error('this test replays nothing'));
  }

  strands(): Promise<never> {
    return Promise.reject(new Error('this test looks at no strands'));
  }

  key(): Promise<never> {
    return Promise.reject(new Error('this test looks at no key'));
  }

  payload(): Promise<never> {
    return Promise.reject(new Error('this test looks at no payload'));
  }

  bookmark(): Promise<never> {
    return Promise.reject(new Error('this test makes no bookmark'));
  }

  tail(): never {
    throw new Error('this test reads nothing');
  }

  isUp(state: 'running' | 'standby'): void {
    this.state = state;
    this.#started.resolve();
  }

  doesNotStart(error: unknown): void {
    this.#started.reject(error);
    this.finished.catch(() => undefined);
    this.#finished.reject(error);
  }

  ends(): void {
    this.#started.resolve();
    this.#finished.resolve();
  }

  fails(error: unknown): void {
    this.#finished.reject(error);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Promise.withResolvers is not in Node 20. */
function withResolvers(): PromiseWithResolvers {
  let resolve: () => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
