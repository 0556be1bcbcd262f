import type { DeadLetter } from '@strandline/core';
import type { Pipeline, PipelineDesk } from '@strandline/pipeline';
import { adminError } from '../errors.js';
import { defined } from './keys.js';
import {
  answers,
  body,
  by,
  change,
  createRoute,
  keyText,
  named,
  pipelineNamed,
  z,
  type Api,
  type ApiParts,
} from './parts.js';
import { letterCountsSchema, letterSchema, payloadSchema } from './schemas.js';

const STATES = ['waiting', 'handled', 'skipped', 'discarded'] as const;
/** Characters of a payload that are shown. */
const SHOWN = 16 * 1_024;

const tags = ['letters'];
const filter = {
  key: keyText.optional(),
  type: z.string().max(1_024).optional(),
  /** A part of the error's name, code or message. */
  error: z.string().max(1_024).optional(),
  state: z.enum(STATES).optional(),
};
const list = createRoute({
  ...{
    method: 'get',
    path: '/pipelines/{pipeline}/letters',
    tags,
    summary: 'Dead letters, in the order of storing',
  },
  request: {
    params: named,
    query: z.object({
      ...filter,
      olderThan: z.coerce
        .number()
        .min(0)
        .optional()
        .openapi({ description: 'Milliseconds since it was parked' }),
      after: z
        .string()
        .max(100)
        .optional()
        .openapi({ description: 'The id of the last one of the page before' }),
      limit: z.coerce.number().int().min(1).max(1_000).optional(),
    }),
  },
  responses: answers(
    z.object({ letters: z.array(letterSchema), counts: letterCountsSchema }),
    'A page of them',
  ),
});
const letter = z.object({
  ...named.shape,
  letter: z
    .string()
    .regex(/^\d{1,20}$/)
    .openapi({ param: { name: 'letter', in: 'path' } }),
});
const show = createRoute({
  ...{ method: 'get', path: '/pipelines/{pipeline}/letters/{letter}', tags, summary: 'One letter' },
  request: { params: letter },
  responses: answers(letterSchema, 'The letter, without its payload'),
});
const payload = createRoute({
  ...{ method: 'get', path: '/pipelines/{pipeline}/letters/{letter}/payload', tags, summary: 'Its payload' },
  request: { params: letter },
  responses: answers(payloadSchema, 'Its text, or the beginning of it'),
});
const retry = createRoute({
  ...{
    method: 'post',
    path: '/pipelines/{pipeline}/letters/retry',
    tags,
    summary: 'Release the keys of the letters that fit',
  },
  request: {
    params: named,
    body: body(
      z.strictObject({
        ...filter,
        olderThan: z.number().min(0).optional(),
        all: z.literal(true).optional(),
        by,
      }),
    ),
  },
  responses: answers(z.object({ keys: z.array(z.string()) }), 'The keys that go on'),
});
const aboutKey = z.strictObject({ key: keyText, by });
const skip = createRoute({
  ...{
    method: 'post',
    path: '/pipelines/{pipeline}/letters/skip',
    tags,
    summary: 'Leave the head of a parked key out, and release the key',
  },
  request: { params: named, body: body(aboutKey) },
  responses: answers(
    z.object({ skipped: letterSchema.nullable() }),
    'What was left out; null when nothing waits',
  ),
});
const discard = createRoute({
  ...{
    method: 'post',
    path: '/pipelines/{pipeline}/letters/discard',
    tags,
    summary: 'Give up all letters of a key, and release it',
  },
  request: { params: named, body: body(aboutKey) },
  responses: answers(z.object({ discarded: z.number() }), 'How many'),
});

export function addLetters(api: Api, parts: ApiParts): void {
  api.openapi(list, async (context) => {
    const desk = deskOf(pipelineNamed(parts, context.req.valid('param').pipeline));
    const { after = null, limit = 100, ...asked } = context.req.valid('query');
    const [letters, counts] = await Promise.all([desk.list(defined(asked), { after, limit }), desk.counts()]);
    return context.json({ letters: letters.map(viewOf), counts }, 200);
  });
  api.openapi(show, async (context) => {
    const asked = context.req.valid('param');
    return context.json(viewOf(await letterOf(parts, asked.pipeline, asked.letter)), 200);
  });
  api.openapi(payload, async (context) => {
    const asked = context.req.valid('param');
    const { payloadText } = (await letterOf(parts, asked.pipeline, asked.letter)).event;
    const text = payloadText?.slice(0, SHOWN) ?? null;
    const length = payloadText?.length ?? 0;
    return context.json({ text, length, cut: (text?.length ?? 0) < length }, 200);
  });
  api.openapi(retry, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const { by: who, all, ...asked } = context.req.valid('json');
    const about = defined(asked);
    if (all !== true && Object.keys(about).length === 0) {
      throw adminError(
        'ADMIN_REQUEST',
        'Nothing says which letters are meant.',
        'Name a key, a type, an error, a state or an age, or send {"all": true}.',
      );
    }
    const keys = await change(parts, context, {
      ...{ action: 'letters.retry', pipeline: pipeline.name, by: who, about },
      run: () => deskOf(pipeline).retry(about),
    });
    return context.json({ keys: [...keys] }, 200);
  });
  api.openapi(skip, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const asked = context.req.valid('json');
    const skipped = await change(parts, context, {
      ...{ action: 'letters.skip', pipeline: pipeline.name, by: asked.by, about: { key: asked.key } },
      run: () => deskOf(pipeline).skip(asked.key),
    });
    return context.json({ skipped: skipped === null ? null : viewOf(skipped) }, 200);
  });
  api.openapi(discard, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const asked = context.req.valid('json');
    const discarded = await change(parts, context, {
      ...{ action: 'letters.discard', pipeline: pipeline.name, by: asked.by, about: { key: asked.key } },
      run: () => deskOf(pipeline).discard(asked.key),
    });
    return context.json({ discarded }, 200);
  });
}

async function letterOf(parts: ApiParts, pipeline: string, id: string): Promise<DeadLetter> {
  const found = await deskOf(pipelineNamed(parts, pipeline)).show(id);
  if (found !== null) return found;
  throw adminError(
    'ADMIN_NOT_FOUND',
    'There is no letter by that number.',
    'List them again: handled ones go.',
  );
}

function deskOf({ deadLetters }: Pick<Pipeline, 'deadLetters'>): PipelineDesk {
  if (deadLetters !== null) return deadLetters;
  throw adminError(
    'ADMIN_NOT_FOUND',
    'The pipeline has no place for dead letters.',
    'Give it one: deadLetters in definePipeline({ … }).',
  );
}

function viewOf({ event, failure, ...letter }: DeadLetter): z.infer<typeof letterSchema> {
  const { id, key, type, position, table, transaction } = event;
  return {
    ...letter,
    event: { id, key, type, position, table, committedAt: transaction.commitTime },
    failure: failure === null ? null : { ...failure, error: { ...failure.error } },
  };
}
