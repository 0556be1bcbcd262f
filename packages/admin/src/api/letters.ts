import type { DeadLetter } from '@strandline/core';
import type { Pipeline, PipelineDesk } from '@strandline/pipeline';
import { adminError } from '../errors.js';
import { change, keyText, look, z, type Api, type ApiParts } from './parts.js';
import { letterCountsSchema, letterSchema, payloadSchema } from './schemas.js';

const STATES = ['waiting', 'handled', 'skipped', 'discarded'] as const;
/** Characters of a payload that are shown. */
const SHOWN = 16 * 1_024;
/** Milliseconds: some thirty years. Databases have no time that is much older. */
const OLDEST = 1e12;
/** Digits that a letter's number has at most. */
const NUMBER = /^\d{1,18}$/;

const tag = 'letters';
const filter = {
  key: keyText.optional(),
  type: z.string().max(1_024).optional(),
  /** A part of the error's name, code or message. */
  error: z.string().max(1_024).optional(),
  state: z.enum(STATES).optional(),
};
const letter = {
  letter: z
    .string()
    .regex(/^\d{1,20}$/)
    .openapi({ param: { name: 'letter', in: 'path' } }),
};

export function addLetters(api: Api, parts: ApiParts): void {
  addLooks(api, parts);
  change(api, parts, {
    ...{ path: '/letters/retry', tag, summary: 'Release the keys of the letters that fit' },
    action: 'letters.retry',
    body: {
      ...filter,
      olderThan: z.number().min(0).max(OLDEST).optional(),
      all: z.literal(true).optional(),
    },
    answer: z.object({ keys: z.array(z.string()) }),
    described: 'The keys that go on',
    run: async (pipeline, { all, ...fit }) => {
      if (all !== true && Object.keys(fit).length === 0) throw nothingMeant();
      return { keys: await deskOf(pipeline).retry(fit) };
    },
  });
  change(api, parts, {
    ...{ path: '/letters/skip', tag, summary: 'Leave the head of a parked key out, and release the key' },
    action: 'letters.skip',
    body: {
      key: keyText,
      letter: z
        .string()
        .regex(NUMBER)
        .optional()
        .openapi({ description: 'The head that is meant: when it is another one by now, nothing is done' }),
    },
    answer: z.object({ skipped: letterSchema.nullable() }),
    described: 'What was left out; null when nothing waits',
    run: async (pipeline, { key, letter: meant }) => {
      const skipped = await deskOf(pipeline).skip(key, meant);
      if (skipped === null && meant !== undefined) throw otherHead();
      return { skipped: skipped === null ? null : viewOf(skipped) };
    },
  });
  change(api, parts, {
    ...{ path: '/letters/discard', tag, summary: 'Give up all letters of a key, and release it' },
    action: 'letters.discard',
    body: { key: keyText },
    answer: z.object({ discarded: z.number() }),
    described: 'How many',
    run: async (pipeline, { key }) => ({ discarded: await deskOf(pipeline).discard(key) }),
  });
}

function addLooks(api: Api, parts: ApiParts): void {
  look(api, parts, {
    ...{ path: '/letters', tag, summary: 'Dead letters, in the order of storing' },
    query: {
      ...filter,
      olderThan: z.coerce
        .number()
        .min(0)
        .max(OLDEST)
        .optional()
        .openapi({ description: 'Milliseconds since it was parked' }),
      after: z
        .string()
        .regex(NUMBER)
        .optional()
        .openapi({ description: 'The id of the last one of the page before' }),
      limit: z.coerce.number().int().min(1).max(1_000).optional(),
    },
    answer: z.object({ letters: z.array(letterSchema), counts: letterCountsSchema }),
    described: 'A page of them',
    run: async (pipeline, { after = null, limit = 100, ...fit }) => {
      const desk = deskOf(pipeline);
      const [letters, counts] = await Promise.all([desk.list(fit, { after, limit }), desk.counts()]);
      return { letters: letters.map(viewOf), counts };
    },
  });
  look(api, parts, {
    ...{ path: '/letters/{letter}', tag, summary: 'One letter', place: letter },
    answer: letterSchema,
    described: 'The letter, without its payload',
    run: async (pipeline, { letter: id }) => viewOf(await letterOf(pipeline, id)),
  });
  look(api, parts, {
    ...{ path: '/letters/{letter}/payload', tag, summary: 'Its payload', place: letter },
    answer: payloadSchema,
    described: 'Its text, or the beginning of it',
    run: async (pipeline, { letter: id }) => {
      const { payloadText } = (await letterOf(pipeline, id)).event;
      const text = payloadText?.slice(0, SHOWN) ?? null;
      const length = payloadText?.length ?? 0;
      return { text, length, cut: (text?.length ?? 0) < length };
    },
  });
}

async function letterOf(pipeline: Pipeline, id: string): Promise<DeadLetter> {
  const found = await deskOf(pipeline).show(id);
  if (found !== null) return found;
  throw adminError(
    'ADMIN_NOT_FOUND',
    'There is no letter by that number.',
    'List them again: handled ones go.',
  );
}

function otherHead(): Error {
  return adminError(
    'ADMIN_NOT_FOUND',
    'Another letter than the one that is meant is the first of its key by now, or none waits.',
    'Look at the letters of the key again, without a filter: nothing was left out.',
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

function nothingMeant(): Error {
  return adminError(
    'ADMIN_REQUEST',
    'Nothing says which letters are meant.',
    'Name a key, a type, an error, a state or an age, or send {"all": true}.',
  );
}

function viewOf({ event, failure, ...of }: DeadLetter): z.infer<typeof letterSchema> {
  const { id, key, type, position, table, transaction } = event;
  return {
    ...of,
    event: { id, key, type, position, table, committedAt: transaction.commitTime },
    failure: failure === null ? null : { ...failure, error: { ...failure.error } },
  };
}
