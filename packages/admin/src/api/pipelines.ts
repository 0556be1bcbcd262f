import type { Pipeline } from '@strandline/pipeline';
import {
  answers,
  body,
  by,
  change,
  createRoute,
  named,
  note,
  pipelineNamed,
  z,
  type Api,
  type ApiParts,
} from './parts.js';
import {
  findingSchema,
  heldKeySchema,
  instanceSchema,
  letterCountsSchema,
  offsetSchema,
  orderSchema,
  pipelineSchema,
  sampleSchema,
} from './schemas.js';

/** A look at one pipeline of this process: what the stream tells once a second, too. */
export function pipelineView(
  pipeline: Pipeline,
  { health, history }: Pick<ApiParts, 'health' | 'history'>,
): z.infer<typeof pipelineSchema> {
  const { name, source, offsets, deadLetters } = pipeline;
  const { state, epoch, savedWatermark, window } = pipeline.status();
  return {
    ...{ name, source: source.name, offsets: offsets.name, deadLetters: deadLetters !== null },
    ...{ state, epoch, savedWatermark, window },
    look: { ...pipeline.details() },
    sample: history.of(name).at(-1) ?? null,
    health: mutable(health().find((one) => one.pipeline === name)) ?? {
      ...{ pipeline: name, state, ready: false, advancing: true, reasons: ['it was not looked at yet'] },
    },
  };
}

function mutable<T extends { readonly reasons: readonly string[] }>(
  health: T | undefined,
): (Omit<T, 'reasons'> & { reasons: string[] }) | undefined {
  return health === undefined ? undefined : { ...health, reasons: [...health.reasons] };
}

export const pipelineDetailsSchema = pipelineSchema.extend({
  instances: z.array(instanceSchema),
  controls: z.object({ paused: orderSchema.nullable(), held: z.array(heldKeySchema) }),
  letters: letterCountsSchema.nullable(),
});

const tags = ['pipelines'];
const list = createRoute({
  ...{ method: 'get', path: '/pipelines', tags, summary: 'The pipelines of this process' },
  responses: answers(z.object({ pipelines: z.array(pipelineSchema), readOnly: z.boolean() }), 'All of them'),
});
const one = createRoute({
  ...{
    method: 'get',
    path: '/pipelines/{pipeline}',
    tags,
    summary: 'One, with its processes, holds and letters',
  },
  request: { params: named },
  responses: answers(pipelineDetailsSchema, 'The pipeline'),
});
const offset = createRoute({
  ...{
    method: 'get',
    path: '/pipelines/{pipeline}/offset',
    tags,
    summary: 'What is saved, and how far the log reaches',
  },
  request: { params: named },
  responses: answers(z.object({ offset: offsetSchema.nullable() }), 'The offset; null before the first'),
});
const history = createRoute({
  ...{
    method: 'get',
    path: '/pipelines/{pipeline}/history',
    tags,
    summary: 'The last quarter of an hour, a second each',
  },
  request: { params: named },
  responses: answers(z.object({ samples: z.array(sampleSchema) }), 'Oldest first'),
});
const doctor = createRoute({
  ...{
    method: 'get',
    path: '/pipelines/{pipeline}/doctor',
    tags,
    summary: 'How its servers are set up, as strandline doctor tells',
  },
  request: { params: named },
  responses: answers(z.object({ findings: z.array(findingSchema) }), 'What was found'),
});
const pause = createRoute({
  ...{
    method: 'post',
    path: '/pipelines/{pipeline}/pause',
    tags,
    summary: 'Start no handler any more, until resumed',
  },
  request: { params: named, body: body(z.strictObject({ by, note })) },
  responses: answers(z.object({ changed: z.boolean(), paused: orderSchema }), 'Who has paused it'),
});
const resume = createRoute({
  ...{ method: 'post', path: '/pipelines/{pipeline}/resume', tags, summary: 'Go on' },
  request: { params: named, body: body(z.strictObject({ by })) },
  responses: answers(z.object({ changed: z.boolean(), was: orderSchema.nullable() }), 'Who had paused it'),
});

export function addPipelines(api: Api, parts: ApiParts, readOnly: boolean): void {
  api.openapi(list, (context) =>
    context.json(
      { pipelines: parts.pipelines.map((pipeline) => pipelineView(pipeline, parts)), readOnly },
      200,
    ),
  );
  api.openapi(one, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const { name, offsets, deadLetters } = pipeline;
    const [instances, controls, letters] = await Promise.all([
      offsets.instances.list(name),
      pipeline.control.controls(),
      deadLetters === null ? null : deadLetters.counts(),
    ]);
    const view = {
      ...pipelineView(pipeline, parts),
      instances: instances.map(({ id, host, pid, state, epoch, startedAt, reportedAt }) => ({
        ...{ id, host, pid, state, epoch, startedAt, reportedAt },
      })),
      controls: { paused: controls.paused, held: [...controls.held] },
      letters,
    };
    return context.json(view, 200);
  });
  api.openapi(offset, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const view = await pipeline.offset.show();
    if (view.offset === null) return context.json({ offset: null }, 200);
    const { watermark, completed, epoch, revision, savedAt } = view.offset;
    const shown = { watermark, completed: completed.length, epoch, revision, savedAt, log: view.log };
    return context.json({ offset: shown }, 200);
  });
  api.openapi(history, (context) => {
    const { name } = pipelineNamed(parts, context.req.valid('param').pipeline);
    return context.json({ samples: [...parts.history.of(name)] }, 200);
  });
  api.openapi(doctor, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    return context.json({ findings: [...((await parts.examine?.(pipeline)) ?? [])] }, 200);
  });
  api.openapi(pause, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const asked = context.req.valid('json');
    const { changed, paused } = await change(parts, context, {
      ...{
        action: 'pipeline.pause',
        pipeline: pipeline.name,
        by: asked.by,
        about: { note: asked.note ?? '' },
      },
      run: (who) => pipeline.control.pause({ by: who, note: asked.note ?? '' }),
    });
    return context.json({ changed, paused }, 200);
  });
  api.openapi(resume, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const { changed, was } = await change(parts, context, {
      ...{ action: 'pipeline.resume', pipeline: pipeline.name, by: context.req.valid('json').by, about: {} },
      run: () => pipeline.control.resume(),
    });
    return context.json({ changed, was }, 200);
  });
}
