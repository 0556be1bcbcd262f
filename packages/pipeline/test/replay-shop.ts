import type { HandlerContext, OutboxEvent } from '@strandline/core';
import type { PipelineOptions } from '../src/config.js';
import { definePipeline, type Pipeline } from '../src/pipeline.js';
import { event, keptLog, STEADY } from './fixtures.js';
import { KeptOffsets, ScriptedLog } from './scripted-log.js';

/** Events 1 to n of the keys a, b, c in turn; the n-th committed in the n-th second. */
export function events(from: number, to: number): OutboxEvent[] {
  return Array.from({ length: to - from + 1 }, (_, i) => {
    const n = from + i;
    const commitTime = `2026-01-01T00:00:${String(n).padStart(2, '0')}.000000Z`;
    return {
      ...event('abc'[n % 3] ?? '', n),
      type: n % 2 === 0 ? 'even' : 'odd',
      transaction: { id: String(n), ordinal: 1, commitTime },
    };
  });
}

/** An outbox of nine events, and pipelines on it. */
export class Shop {
  readonly log = new ScriptedLog(events(1, 9));
  readonly offsets = new KeptOffsets();
  readonly kept = keptLog();
  readonly seen: string[] = [];
  readonly contexts: HandlerContext[] = [];

  define(overrides: Partial<PipelineOptions> = {}): Pipeline {
    return definePipeline({
      name: 'shop',
      source: this.log,
      offsets: this.offsets,
      retry: STEADY,
      commitInterval: 1,
      log: this.kept.log,
      handle: this.handle,
      ...overrides,
    });
  }

  readonly handle = (one: OutboxEvent, ctx: HandlerContext): void => {
    this.seen.push(one.id);
    this.contexts.push(ctx);
  };
}
