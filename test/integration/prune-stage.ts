import type { Offset, OffsetStore } from '@strandline/core';
import { offsetsWith, TestLog } from '@strandline/test-kit';
import { definePipeline, memoryOffsets, type Pipeline, type PruneOptions, type Source } from 'strandline';

/** Pipelines on one outbox that write down what they have handled, over one offset store. */
export class PruneStage implements AsyncDisposable {
  readonly storage = new Map<string, Offset>();
  readonly log = new TestLog();
  /** By pipeline, the ids that its handler has seen. */
  readonly handled = new Map<string, Set<string>>();
  /** Of these pipelines a handler waits until the promise is there. */
  readonly holds = new Map<string, Promise<void>>();
  readonly #pipelines: Pipeline[] = [];

  store(): OffsetStore {
    return memoryOffsets({ storage: this.storage });
  }

  /** @param hidden pipelines that its store does not list, as if somebody had forgotten them */
  define(name: string, source: Source, prune?: PruneOptions, hidden: readonly string[] = []): Pipeline {
    const seen = new Set<string>();
    this.handled.set(name, seen);
    const store = this.store();
    const pipeline = definePipeline({
      name,
      source,
      offsets: offsetsWith(store, {
        list: async () => (await store.list()).filter(({ pipeline: one }) => !hidden.includes(one)),
      }),
      commitInterval: 20,
      log: this.log,
      ...(prune === undefined ? {} : { prune }),
      handle: async (event) => {
        await this.holds.get(name);
        seen.add(event.id);
      },
    });
    pipeline.finished.catch(() => undefined);
    this.#pipelines.push(pipeline);
    return pipeline;
  }

  async start(...args: Parameters<PruneStage['define']>): Promise<Pipeline> {
    const pipeline = this.define(...args);
    await pipeline.start();
    return pipeline;
  }

  /** Holds a pipeline's handlers until the function is called. */
  hold(name: string): () => void {
    let release: () => void = () => undefined;
    this.holds.set(
      name,
      new Promise((resolve) => {
        release = resolve;
      }),
    );
    return release;
  }

  ids(name: string): Set<string> {
    return this.handled.get(name) ?? new Set();
  }

  /** Of these ids, those that not every pipeline has handled. */
  notHandledByAll(ids: Iterable<string>): string[] {
    return [...ids].filter((id) => [...this.handled.values()].some((seen) => !seen.has(id)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pipelines.map((pipeline) => pipeline.stop()));
  }
}
