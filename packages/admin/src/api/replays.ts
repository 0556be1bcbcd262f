import { adminError } from '../errors.js';
import { change, keyText, look, positionText, z, type Api, type ApiParts } from './parts.js';
import { ReplayList, viewOf } from './replay-list.js';
import { replaySchema } from './schemas.js';

const tag = 'replays';
const place = z
  .union([
    z.strictObject({ bookmark: z.string().min(1).max(100) }),
    z.strictObject({ position: positionText }),
    z.strictObject({ time: z.string().min(1).max(100) }),
  ])
  .openapi('LogPlace');

export function addReplays(api: Api, parts: ApiParts): void {
  const replays = new ReplayList();
  look(api, parts, {
    ...{ path: '/replays', tag, summary: 'Replays that were started here' },
    answer: z.object({ replays: z.array(replaySchema) }),
    described: 'Newest first',
    run: ({ name }) => ({ replays: replays.of(name).map(viewOf) }),
  });
  change(api, parts, {
    ...{ path: '/replays', tag, summary: 'Handle a part of the log again' },
    action: 'replay.start',
    body: {
      from: place.or(z.literal('earliest')),
      to: place.or(z.literal('now')).optional(),
      key: keyText.optional(),
      type: z.string().max(1_024).optional(),
      handler: z.string().max(200).optional(),
      as: z.string().max(50).optional(),
      restart: z.boolean().optional(),
      dryRun: z.boolean().optional(),
    },
    answer: replaySchema,
    described: 'It runs',
    run: async (pipeline, asked) => viewOf(replays.add(pipeline.name, await pipeline.replay(asked))),
  });
  change(api, parts, {
    ...{ path: '/replays/stop', tag, summary: 'Interrupt a replay: asked for again, it goes on' },
    action: 'replay.stop',
    body: { name: z.string().min(1).max(50) },
    answer: replaySchema,
    described: 'Where it stands',
    run: async (pipeline, { name }) => {
      const started = replays.of(pipeline.name).find(({ replay }) => replay.name === name);
      if (started === undefined)
        throw adminError('ADMIN_NOT_FOUND', 'No replay of that name was started here.', 'List them again.');
      await started.replay.stop();
      return viewOf(started);
    },
  });
}
