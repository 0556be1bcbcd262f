import type { Intervention, Pipeline } from '@strandline/pipeline';
import {
  answers,
  body,
  by,
  change,
  createRoute,
  keyText,
  named,
  note,
  pipelineNamed,
  z,
  type Api,
  type ApiParts,
} from './parts.js';
import { heldKeySchema, keySchema, orderSchema, payloadSchema, strandListSchema } from './schemas.js';

const STATES = ['ready', 'running', 'stuck', 'backoff', 'exhausted', 'halted', 'held'] as const;
const SORTS = ['age', 'depth', 'slowest', 'failing'] as const;

const tags = ['keys'];
const strands = createRoute({
  ...{
    method: 'get',
    path: '/pipelines/{pipeline}/strands',
    tags,
    summary: 'Live keys, what needs somebody first',
  },
  request: {
    params: named,
    query: z.object({
      state: z.enum(STATES).optional(),
      sort: z.enum(SORTS).optional(),
      search: z.string().max(1_024).optional(),
      limit: z.coerce.number().int().min(1).max(1_000).optional(),
      after: z.string().max(200_000).optional(),
    }),
  },
  responses: answers(strandListSchema, 'A page of them'),
});
const key = createRoute({
  ...{ method: 'get', path: '/pipelines/{pipeline}/key', tags, summary: "One key's life, without payloads" },
  request: { params: named, query: z.object({ key: keyText }) },
  responses: answers(keySchema, 'All that is known of it'),
});
const payload = createRoute({
  ...{
    method: 'get',
    path: '/pipelines/{pipeline}/payload',
    tags,
    summary: 'The payload of an event that waits',
  },
  request: {
    params: named,
    query: z.object({
      key: keyText,
      position: z.string().min(1).max(65_536),
      limit: z.coerce.number().int().min(0).max(1_048_576).optional(),
    }),
  },
  responses: answers(payloadSchema, 'Its text, or the beginning of it'),
});

const about = z.strictObject({ key: keyText, by, note });
const hold = createRoute({
  ...{
    method: 'post',
    path: '/pipelines/{pipeline}/keys/hold',
    tags,
    summary: 'The key takes no turn until released',
  },
  request: { params: named, body: body(about) },
  responses: answers(z.object({ changed: z.boolean(), held: heldKeySchema }), 'Who holds it'),
});
const release = createRoute({
  ...{ method: 'post', path: '/pipelines/{pipeline}/keys/release', tags, summary: 'A held key goes on' },
  request: { params: named, body: body(about.omit({ note: true })) },
  responses: answers(
    z.object({ changed: z.boolean(), was: heldKeySchema.or(orderSchema).nullable() }),
    'Who had held it',
  ),
});

/** What is done to the head of a live key, by the process that has it. */
const INTERVENTIONS = {
  retry: 'The head is tried now',
  park: 'The head and all that follows go to the dead letters, and wait there',
  skip: 'The head alone goes to the dead letters, and the key goes on',
} as const;

const headOf = z.strictObject({
  key: keyText,
  by,
  /** The head that is meant: when it is another one by now, nothing is done. */
  position: z.string().min(1).max(65_536).optional(),
});
const intervention = (name: keyof typeof INTERVENTIONS) =>
  createRoute({
    ...{ method: 'post', path: `/pipelines/{pipeline}/keys/${name}`, tags, summary: INTERVENTIONS[name] },
    request: { params: named, body: body(headOf) },
    responses: answers(
      z.object({ key: z.string(), position: z.string(), outcome: z.enum(['done', 'under way']) }),
      'What was done',
    ),
  });

export function addKeys(api: Api, parts: ApiParts): void {
  api.openapi(strands, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const list = await pipeline.strands(defined(context.req.valid('query')));
    return context.json({ ...list, strands: [...list.strands] }, 200);
  });
  api.openapi(key, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const view = await pipeline.key(context.req.valid('query').key);
    return context.json(
      {
        ...view,
        waiting: [...view.waiting],
        letters: view.letters === null ? null : [...view.letters],
        happenings: view.happenings.map((happening) => ({ ...happening })),
      },
      200,
    );
  });
  api.openapi(payload, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const asked = context.req.valid('query');
    return context.json(await pipeline.payload(asked.key, asked.position, asked.limit), 200);
  });
  api.openapi(hold, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const asked = context.req.valid('json');
    const { changed, held } = await change(parts, context, {
      ...{ action: 'key.hold', pipeline: pipeline.name, by: asked.by },
      about: { key: asked.key, note: asked.note ?? '' },
      run: (who) => pipeline.control.hold(asked.key, { by: who, note: asked.note ?? '' }),
    });
    return context.json({ changed, held }, 200);
  });
  api.openapi(release, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const asked = context.req.valid('json');
    const { changed, was } = await change(parts, context, {
      ...{ action: 'key.release', pipeline: pipeline.name, by: asked.by, about: { key: asked.key } },
      run: () => pipeline.control.release(asked.key),
    });
    return context.json({ changed, was }, 200);
  });
  for (const name of ['retry', 'park', 'skip'] as const) {
    api.openapi(intervention(name), async (context) => {
      const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
      const asked = context.req.valid('json');
      const done = await change(parts, context, {
        ...{ action: `key.${name}`, pipeline: pipeline.name, by: asked.by },
        about: { key: asked.key, position: asked.position ?? null },
        run: () => intervene(pipeline, name, asked.key, asked.position),
      });
      return context.json(done, 200);
    });
  }
}

function intervene(
  { control }: Pipeline,
  name: keyof typeof INTERVENTIONS,
  key: string,
  position: string | undefined,
): Promise<Intervention> {
  return control[name](key, position === undefined ? {} : { position });
}

/** Without what was left out. */
export function defined<T extends object>(query: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
