import type { LetterCounts } from '@strandline/core';
import type { Pipeline, PipelineDesk } from '@strandline/pipeline';
import { answers, change, createRoute, look, note, z, type Api, type ApiParts } from './parts.js';
import { problemOf, problemSchema, type Problem } from './problem.js';
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
  lettersError: problemSchema.nullable().openapi({ description: 'Why the dead-letter table is not told of' }),
});

const tag = 'pipelines';
/** Milliseconds: the doctor asks every server dozens of questions. */
const DOCTOR_PATIENCE = 60_000;
const list = createRoute({
  ...{ method: 'get', path: '/pipelines', tags: [tag], summary: 'The pipelines of this process' },
  responses: answers(z.object({ pipelines: z.array(pipelineSchema), readOnly: z.boolean() }), 'All of them'),
});

export function addPipelines(api: Api, parts: ApiParts, readOnly: boolean): void {
  api.openapi(list, (context) => {
    const pipelines = parts.pipelines.map((pipeline) => pipelineView(pipeline, parts));
    return context.json({ pipelines, readOnly }, 200);
  });
  look(api, parts, {
    ...{ path: '', tag, summary: 'One, with its processes, holds and letters' },
    answer: pipelineDetailsSchema,
    described: 'The pipeline',
    run: (pipeline) => detailsOf(pipeline, parts),
  });
  look(api, parts, {
    ...{ path: '/offset', tag, summary: 'What is saved, and how far the log reaches' },
    answer: z.object({ offset: offsetSchema.nullable() }),
    described: 'The offset; null before the first',
    run: async (pipeline) => {
      const { offset, log } = await pipeline.offset.show();
      if (offset === null) return { offset };
      const { watermark, completed, epoch, revision, savedAt } = offset;
      return { offset: { watermark, completed: completed.length, epoch, revision, savedAt, log } };
    },
  });
  look(api, parts, {
    ...{ path: '/history', tag, summary: 'The last quarter of an hour, a second each' },
    answer: z.object({ samples: z.array(sampleSchema) }),
    described: 'Oldest first',
    run: ({ name }) => Promise.resolve({ samples: [...parts.history.of(name)] }),
  });
  look(api, parts, {
    ...{ path: '/doctor', tag, summary: 'How its servers are set up, as strandline doctor tells' },
    answer: z.object({ findings: z.array(findingSchema) }),
    described: 'What was found',
    patience: DOCTOR_PATIENCE,
    run: async (pipeline) => ({ findings: (await parts.examine?.(pipeline)) ?? [] }),
  });
  change(api, parts, {
    ...{ path: '/pause', tag, summary: 'Start no handler any more, until resumed' },
    action: 'pipeline.pause',
    body: { note },
    answer: z.object({ changed: z.boolean(), paused: orderSchema }),
    described: 'Who has paused it',
    run: async ({ control }, { note: why = '' }, by) => {
      const { changed, paused } = await control.pause({ by, note: why });
      return { changed, paused };
    },
  });
  change(api, parts, {
    ...{ path: '/resume', tag, summary: 'Go on' },
    action: 'pipeline.resume',
    body: {},
    answer: z.object({ changed: z.boolean(), was: orderSchema.nullable() }),
    described: 'Who had paused it',
    run: async ({ control }) => {
      const { changed, was } = await control.resume();
      return { changed, was };
    },
  });
}

async function detailsOf(pipeline: Pipeline, parts: ApiParts) {
  const { name, offsets, deadLetters, control } = pipeline;
  const [instances, controls, letters] = await Promise.all([
    offsets.instances.list(name),
    control.controls(),
    lettersOf(deadLetters),
  ]);
  return {
    ...pipelineView(pipeline, parts),
    instances: instances.map(({ id, host, pid, state, epoch, startedAt, reportedAt }) => ({
      ...{ id, host, pid, state, epoch, startedAt, reportedAt },
    })),
    controls: { paused: controls.paused, held: controls.held },
    ...letters,
  };
}

/** A dead-letter table that is away must not hide the rest. */
async function lettersOf(desk: PipelineDesk | null): Promise<{
  readonly letters: LetterCounts | null;
  readonly lettersError: Problem | null;
}> {
  try {
    return { letters: desk === null ? null : await desk.counts(), lettersError: null };
  } catch (error) {
    return { letters: null, lettersError: problemOf(error).problem };
  }
}
