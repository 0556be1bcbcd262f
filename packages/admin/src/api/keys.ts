import { change, keyText, look, note, positionText, z, type Api, type ApiParts } from './parts.js';
import { heldKeySchema, keySchema, orderSchema, payloadSchema, strandListSchema } from './schemas.js';

const STATES = ['ready', 'running', 'stuck', 'backoff', 'exhausted', 'halted', 'held'] as const;
const SORTS = ['age', 'depth', 'slowest', 'failing'] as const;

const tag = 'keys';

/** What is done to the head of a live key, by the process that has it. */
const INTERVENTIONS = {
  retry: 'The head is tried now',
  park: 'The head and all that follows go to the dead letters, and wait there',
  skip: 'The head alone goes to the dead letters, and the key goes on',
} as const;

export function addKeys(api: Api, parts: ApiParts): void {
  addLooks(api, parts);
  change(api, parts, {
    ...{ path: '/keys/hold', tag, summary: 'The key takes no turn until released' },
    action: 'key.hold',
    body: { key: keyText, note },
    answer: z.object({ changed: z.boolean(), held: heldKeySchema }),
    described: 'Who holds it',
    run: async ({ control }, { key, note: why = '' }, by) => {
      const { changed, held } = await control.hold(key, { by, note: why });
      return { changed, held };
    },
  });
  change(api, parts, {
    ...{ path: '/keys/release', tag, summary: 'A held key goes on' },
    action: 'key.release',
    body: { key: keyText },
    answer: z.object({ changed: z.boolean(), was: heldKeySchema.or(orderSchema).nullable() }),
    described: 'Who had held it',
    run: async ({ control }, { key }) => {
      const { changed, was } = await control.release(key);
      return { changed, was };
    },
  });
  for (const name of ['retry', 'park', 'skip'] as const) {
    change(api, parts, {
      ...{ path: `/keys/${name}`, tag, summary: INTERVENTIONS[name] },
      action: `key.${name}`,
      body: {
        key: keyText,
        /** The head that is meant: when it is another one by now, nothing is done. */
        position: positionText.optional(),
      },
      answer: z.object({ key: z.string(), position: z.string(), outcome: z.enum(['done', 'under way']) }),
      described: 'What was done',
      run: ({ control }, { key, ...which }) => control[name](key, which),
    });
  }
}

function addLooks(api: Api, parts: ApiParts): void {
  look(api, parts, {
    ...{ path: '/strands', tag, summary: 'Live keys, what needs somebody first' },
    query: {
      state: z.enum(STATES).optional(),
      sort: z.enum(SORTS).optional(),
      search: z.string().max(1_024).optional(),
      limit: z.coerce.number().int().min(1).max(1_000).optional(),
      after: z.string().max(400_000).optional(),
    },
    answer: strandListSchema,
    described: 'A page of them',
    run: (pipeline, asked) => pipeline.strands(asked),
  });
  look(api, parts, {
    ...{ path: '/key', tag, summary: "One key's life, without payloads" },
    query: { key: keyText },
    answer: keySchema,
    described: 'All that is known of it',
    run: (pipeline, { key }) => pipeline.key(key),
  });
  look(api, parts, {
    ...{ path: '/payload', tag, summary: 'The payload of an event that waits' },
    query: {
      key: keyText,
      position: positionText,
      limit: z.coerce.number().int().min(0).max(1_048_576).optional(),
    },
    answer: payloadSchema,
    described: 'Its text, or the beginning of it',
    run: (pipeline, { key, position, limit }) => pipeline.payload(key, position, limit),
  });
}
