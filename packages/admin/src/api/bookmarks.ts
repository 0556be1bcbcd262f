import { adminError } from '../errors.js';
import {
  answers,
  body,
  by,
  change,
  createRoute,
  named,
  pipelineNamed,
  z,
  type Api,
  type ApiParts,
} from './parts.js';
import { bookmarkSchema } from './schemas.js';

const tags = ['bookmarks'];
const name = z.string().min(1).max(100);
const list = createRoute({
  ...{ method: 'get', path: '/pipelines/{pipeline}/bookmarks', tags, summary: 'Named places of the log' },
  request: { params: named },
  responses: answers(z.object({ bookmarks: z.array(bookmarkSchema) }), 'By name'),
});
const create = createRoute({
  ...{
    method: 'post',
    path: '/pipelines/{pipeline}/bookmarks',
    tags,
    summary: 'Name the end of the log, or a position',
  },
  request: {
    params: named,
    body: body(z.strictObject({ name, position: z.string().min(1).max(65_536).optional(), by })),
  },
  responses: answers(bookmarkSchema.omit({ bytes: true, reachable: true }), 'The bookmark'),
});
const remove = createRoute({
  ...{ method: 'post', path: '/pipelines/{pipeline}/bookmarks/delete', tags, summary: 'Forget a bookmark' },
  request: { params: named, body: body(z.strictObject({ name, by })) },
  responses: answers(z.object({ deleted: z.boolean() }), 'Done'),
});

export function addBookmarks(api: Api, parts: ApiParts): void {
  api.openapi(list, async (context) => {
    const { bookmarks } = pipelineNamed(parts, context.req.valid('param').pipeline);
    const views = (await bookmarks.list()).map(
      ({ name, position, committedAt, createdAt, bytes, reachable }) => ({
        ...{ name, position, committedAt, createdAt, bytes, reachable },
      }),
    );
    return context.json({ bookmarks: views }, 200);
  });
  api.openapi(create, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const asked = context.req.valid('json');
    const made = await change(parts, context, {
      ...{ action: 'bookmark.create', pipeline: pipeline.name, by: asked.by },
      about: { name: asked.name, position: asked.position ?? null },
      run: () =>
        pipeline.bookmarks.create(
          asked.name,
          asked.position === undefined ? 'now' : { position: asked.position },
        ),
    });
    const { name, position, committedAt, createdAt } = made;
    return context.json({ name, position, committedAt, createdAt }, 200);
  });
  api.openapi(remove, async (context) => {
    const pipeline = pipelineNamed(parts, context.req.valid('param').pipeline);
    const asked = context.req.valid('json');
    const deleted = await change(parts, context, {
      ...{ action: 'bookmark.delete', pipeline: pipeline.name, by: asked.by, about: { name: asked.name } },
      run: () => pipeline.bookmarks.delete(asked.name),
    });
    if (!deleted)
      throw adminError('ADMIN_NOT_FOUND', 'There is no bookmark by that name.', 'List them again.');
    return context.json({ deleted }, 200);
  });
}
