import type { LogPlace, Pipeline, Replay } from '@strandline/pipeline';
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
import { problemOf, type Problem } from './problem.js';
import { replaySchema } from './schemas.js';

const tags = ['replays'];
const place = z
  .union([
    z.strictObject({ bookmark: z.string().min(1).max(100) }),
    z.strictObject({ position: z.string().min(1).max(65_536) }),
    z.strictObject({ time: z.string().min(1).max(100) }),
  ])
  .openapi('LogPlace');
const list = createRoute({
  ...{
    method: 'get',
    path: '/pipelines/{pipeline}/replays',
    tags,
    summary: 'Replays that were started here',
  },
  request: { params: named },
  responses: answers(z.object({ replays: z.array(replaySchema) }), 'Newest first'),
});
const start = createRoute({
  ...{
    method: 'post',
    path: '/pipelines/{pipeline}/replays',
    tags,
    summary: 'Handle a part of the log again',
  },
  request: {
    params: named,
    body: body(
      z.strictObject({
        from: place.or(z.literal('earliest')),
        to: place.or(z.literal('now')).optional(),
        key: keyText.optional(),
        type: z.string().max(1_024).optional(),
        handler: z.string().max(200).optional(),
        as: z.string().max(50).optional(),
        restart: z.boolean().optional(),
        dryRun: z.boolean().optional(),
        by,
      }),
    ),
  },
  responses: answers(replaySchema, 'It runs'),
});
const stop = createRoute({
  ...{
    method: 'post',
    path: '/pipelines/{pipeline}/replays/stop',
    tags,
    summary: 'Interrupt a replay: asked for again, it goes on',
  },
  request: { params: named, body: body(z.strictObject({ name: z.string().min(1).max(50), by })) },
  responses: answers(replaySchema, 'Where it stands'),
});

/** Replays of one process that are remembered after their end. */
const REMEMBERED = 50;

interface Started {
  readonly pipeline: string;
  readonly replay: Replay;
  error: Problem | null;
}

/** Replays that were started over the API; they are stopped with their pipelines. */
export class ReplayList {
  #started: Started[] = [];

  of(pipeline: string): readonly Started[] {
    return this.#started.filter((one) => one.pipeline === pipeline).reverse();
  }

  add(pipeline: string, replay: Replay): Started {
    const started: Started = { pipeline, replay, error: null };
    // The same name, asked for again, goes on with the same replay.
    this.#started = this.#started.filter(
      (one) => one.pipeline !== pipeline || one.replay.name !== replay.name,
    );
    this.#started.push(started);
    const ended = this.#started.filter((one) => one.replay.status().state !== 'running');
    if (this.#started.length > REMEMBERED) {
      const [oldest] = ended;
      this.#started = this.#started.filter((one) => one !== oldest);
    }
    replay.finished.catch((error: unknown) => {
      started.error = problemOf(error).problem;
    });
    return started;
  }
}

export function addReplays(api: Api, parts: ApiParts): void {
  const replays = new ReplayList();
  api.openapi(list, (context) => {
    const { name } = pipelineNamed(parts, context.req.valid('param').pipeline);
    return context.json({ replays: replays.of(name).map(viewOf) }, 200);
  });
  api.openapi(start, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const { by: who, ...asked } = context.req.valid('json');
    const about = defined(asked);
    const replay = await change(parts, context, {
      ...{ action: 'replay.start', pipeline: pipeline.name, by: who, about },
      run: () => startReplay(pipeline, about),
    });
    return context.json(viewOf(replays.add(pipeline.name, replay)), 200);
  });
  api.openapi(stop, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const asked = context.req.valid('json');
    const started = replays.of(pipeline.name).find(({ replay }) => replay.name === asked.name);
    if (started === undefined)
      throw adminError('ADMIN_NOT_FOUND', 'No replay of that name was started here.', 'List them again.');
    await change(parts, context, {
      ...{ action: 'replay.stop', pipeline: pipeline.name, by: asked.by, about: { name: asked.name } },
      run: () => started.replay.stop(),
    });
    return context.json(viewOf(started), 200);
  });
}

function startReplay(
  pipeline: Pipeline,
  asked: { readonly from: LogPlace | 'earliest' } & object,
): Promise<Replay> {
  return pipeline.replay(asked);
}

function viewOf({ replay, error }: Started): z.infer<typeof replaySchema> {
  return { ...replay.status(), error };
}
