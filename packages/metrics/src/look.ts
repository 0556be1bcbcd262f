import type { InstanceDetails, Pipeline, PipelineStatus, Totals } from '@strandline/pipeline';
import { ServerLooks, type ServerLook } from './server-looks.js';

/** A pipeline at the moment of a scrape. */
export interface Look {
  readonly status: PipelineStatus;
  readonly totals: Totals;
  readonly details: InstanceDetails;
  readonly server: ServerLook | null;
  /** By `performance.now()`, and by `Date.now()`. */
  readonly now: number;
  readonly wall: number;
}

/** Looks at pipelines, once for all instruments of a scrape. */
export class Looks {
  readonly #pipelines: readonly { readonly pipeline: Pipeline; readonly server: ServerLooks }[];
  #taken: readonly Look[] | null = null;

  constructor(pipelines: readonly Pipeline[]) {
    const now = (): number => performance.now();
    this.#pipelines = pipelines.map((pipeline) => ({ pipeline, server: new ServerLooks(pipeline, now) }));
  }

  /** One look for whoever asks before this turn of the event loop goes on to something else. */
  take(): readonly Look[] {
    if (this.#taken !== null) return this.#taken;
    this.#taken = this.#pipelines.map(({ pipeline, server }) => ({
      status: pipeline.status(),
      totals: pipeline.totals(),
      details: pipeline.details(),
      server: server.latest(),
      now: performance.now(),
      wall: Date.now(),
    }));
    queueMicrotask(() => {
      this.#taken = null;
    });
    return this.#taken;
  }

  /** Resolves when no look at a server is under way. */
  async idle(): Promise<void> {
    for (const { server } of this.#pipelines) await server.idle();
  }

  close(): void {
    for (const { server } of this.#pipelines) server.close();
  }
}
