import { getHeapStatistics } from 'node:v8';
import { findingsOf, pass, warn, type Check, type Verdict, type Finding } from '@strandline/core';
import type { PipelineConfig } from './config.js';

interface PipelineFacts {
  readonly windowBytes: number;
  /** Bytes that V8 lets this process have for its objects. */
  readonly heapLimit: number;
}

/**
 * The window counts the bytes of texts. Parsed payloads, and what handlers make of them, come on top: a window that fills
 * a quarter of the heap by itself is a process that runs out of memory in a backlog.
 */
const SHARE = 4;

export const PIPELINE_CHECKS: readonly Check<PipelineFacts>[] = [
  {
    check: 'pipeline-window',
    why: 'In a backlog the window is full, and parsed payloads come on top: a process without room for it is killed again and again.',
    judge: ({ windowBytes, heapLimit }: PipelineFacts): Verdict | null => {
      const found = `window.bytes ${mebibytes(windowBytes)}, heap limit here ${mebibytes(heapLimit)}`;
      return windowBytes * SHARE <= heapLimit
        ? pass(found)
        : warn(
            found,
            `Set window: { bytes: ${String(Math.floor(heapLimit / SHARE))} }, or run with NODE_OPTIONS=--max-old-space-size=${String(Math.ceil((windowBytes * SHARE) / 1_048_576))}.`,
          );
    },
  },
];

/** What can be told of the options alone, on this machine. */
export function diagnosePipeline({ window }: Pick<PipelineConfig, 'window'>): readonly Finding[] {
  const facts = { windowBytes: window.bytes, heapLimit: getHeapStatistics().heap_size_limit };
  return findingsOf(PIPELINE_CHECKS, facts);
}

function mebibytes(bytes: number): string {
  return `${String(Math.round(bytes / 1_048_576))} MiB`;
}
