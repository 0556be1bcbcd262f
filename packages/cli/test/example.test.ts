import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import example from '../examples/strandline.config.js';
import { pipelinesOf } from '../src/pipelines-of.js';

const file = fileURLToPath(new URL('../examples/strandline.config.ts', import.meta.url));

test('the first pipeline of one’s own takes at most 15 lines', () => {
  expect(readFileSync(file, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(15);
});

test('it is what the command runs', () => {
  expect(pipelinesOf(example, file).map(({ name }) => name)).toEqual(['order-mails']);
  expect(example.status().state).toBe('idle');
});
