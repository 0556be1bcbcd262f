import { expect, it } from 'vitest';
import { findingsOf } from '@strandline/core';
import { diagnosePipeline, PIPELINE_CHECKS } from '../src/diagnose.js';

const MEBIBYTE = 1_048_576;

it.each([
  [64, 4_096, 'pass'],
  [64, 256, 'pass'],
  [64, 255, 'warn'],
])('a window of %d MiB in a heap of %d MiB: %s', (window, heap, result) => {
  const facts = { windowBytes: window * MEBIBYTE, heapLimit: heap * MEBIBYTE };
  expect(findingsOf(PIPELINE_CHECKS, facts)).toMatchObject([{ check: 'pipeline-window', result }]);
});

it('the heap is that of this process', () => {
  expect(diagnosePipeline({ window: { events: 1, bytes: 1 } })).toMatchObject([{ result: 'pass' }]);
  expect(diagnosePipeline({ window: { events: 1, bytes: 2 ** 50 } })).toMatchObject([{ result: 'warn' }]);
});
