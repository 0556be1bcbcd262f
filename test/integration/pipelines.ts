import type { Offset } from '@strandline/core';
import { TestLog, type SourceTuning, type TestOutbox } from '@strandline/test-kit';
import { definePipeline, memoryOffsets, type Handler, type Pipeline, type PipelineOptions } from 'strandline';

type Settings = Partial<Omit<PipelineOptions, 'name' | 'source' | 'batch' | 'handle'>> & {
  readonly source?: SourceTuning;
};

/**
 * Pipelines of one name on one outbox, as several processes have them: they share their offset, so the next one goes
 * on where the last one stopped, and one at a time owns the log. Those that still run stop at the end of the test.
 */
export class Pipelines implements AsyncDisposable {
  readonly storage = new Map<string, Offset>();
  readonly log = new TestLog();
  readonly #outbox: TestOutbox;
  readonly #name: string;
  readonly #defined: Pipeline[] = [];

  constructor(outbox: TestOutbox, name: string) {
    this.#outbox = outbox;
    this.#name = name;
  }

  define(handle: Handler, { source = {}, ...settings }: Settings = {}): Pipeline {
    const pipeline = definePipeline({
      name: this.#name,
      source: this.#outbox.source(source),
      offsets: memoryOffsets({ storage: this.storage }),
      log: this.log,
      ...settings,
      batch: undefined,
      handle,
    });
    // Whoever expects it to fail awaits it; for the others the missing events tell.
    pipeline.finished.catch(() => undefined);
    this.#defined.push(pipeline);
    return pipeline;
  }

  async start(handle: Handler, settings: Settings = {}): Promise<Pipeline> {
    const pipeline = this.define(handle, settings);
    await pipeline.start();
    return pipeline;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#defined.map((pipeline) => pipeline.stop()));
  }
}
