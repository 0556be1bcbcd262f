import type { InstanceRegister, InstanceReport } from '@strandline/core';
import type { Beside } from './memory-beside.js';
import type { Answer } from './memory-bookmarks.js';

export class MemoryInstances implements InstanceRegister {
  readonly #answer: Answer;
  readonly #all: Beside['instances'];

  constructor(answer: Answer, { instances }: Beside) {
    this.#answer = answer;
    this.#all = instances;
  }

  report(pipeline: string, report: InstanceReport, ttl: number): Promise<void> {
    return this.#answer(pipeline, () => {
      const now = performance.now();
      const others = [...(this.#all.get(pipeline) ?? [])].filter(([, { until }]) => until > now);
      const mine = { report: structuredClone(report), until: now + ttl };
      this.#all.set(pipeline, new Map([...others, [report.id, mine]]));
    });
  }

  leave(pipeline: string, id: string): Promise<void> {
    return this.#answer(pipeline, () => {
      this.#all.get(pipeline)?.delete(id);
    });
  }

  list(pipeline: string): Promise<readonly InstanceReport[]> {
    return this.#answer(pipeline, () => {
      const now = performance.now();
      const all = [...(this.#all.get(pipeline)?.values() ?? [])];
      return all.flatMap(({ report, until }) => (until > now ? [report] : []));
    });
  }
}
