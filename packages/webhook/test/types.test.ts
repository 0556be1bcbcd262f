import type { definePipeline } from '@strandline/pipeline';
import { expectTypeOf, it } from 'vitest';
import { webhook, webhookBatch } from '../src/index.js';

type Options = Parameters<typeof definePipeline>[0];
const { source, offsets } = {} as Pick<Options, 'source' | 'offsets'>;
const options = { url: 'https://hooks.example.com', secret: null };

it('a webhook is a handler, of events or of batches', () => {
  const single = { name: 'p', source, offsets, handle: webhook(options) };
  expectTypeOf(single).toExtend<Options>();
  const batched = { name: 'p', source, offsets, batch: { max: 10 }, handle: webhookBatch(options) };
  expectTypeOf(batched).toExtend<Options>();
  // @ts-expect-error a pipeline with batches takes a handler of batches
  expectTypeOf({ ...batched, handle: single.handle }).toExtend<Options>();
});
