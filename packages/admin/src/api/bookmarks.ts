import type { Bookmark } from '@strandline/core';
import { adminError } from '../errors.js';
import { change, look, positionText, z, type Api, type ApiParts } from './parts.js';
import { bookmarkSchema } from './schemas.js';

const tag = 'bookmarks';
const name = z.string().min(1).max(100);

export function addBookmarks(api: Api, parts: ApiParts): void {
  look(api, parts, {
    ...{ path: '/bookmarks', tag, summary: 'Named places of the log' },
    answer: z.object({ bookmarks: z.array(bookmarkSchema) }),
    described: 'By name',
    run: async ({ bookmarks }) => ({
      bookmarks: (await bookmarks.list()).map((one) => ({
        ...{ ...viewOf(one), bytes: one.bytes, reachable: one.reachable },
      })),
    }),
  });
  change(api, parts, {
    ...{ path: '/bookmarks', tag, summary: 'Name the end of the log, or a position' },
    action: 'bookmark.create',
    body: { name, position: positionText.optional() },
    answer: bookmarkSchema.omit({ bytes: true, reachable: true }),
    described: 'The bookmark',
    run: async ({ bookmarks }, asked) =>
      viewOf(
        await bookmarks.create(
          asked.name,
          asked.position === undefined ? 'now' : { position: asked.position },
        ),
      ),
  });
  change(api, parts, {
    ...{ path: '/bookmarks/delete', tag, summary: 'Forget a bookmark' },
    action: 'bookmark.delete',
    body: { name },
    answer: z.object({ deleted: z.boolean() }),
    described: 'Done',
    run: async ({ bookmarks }, asked) => {
      if (await bookmarks.delete(asked.name)) return { deleted: true };
      throw adminError('ADMIN_NOT_FOUND', 'There is no bookmark by that name.', 'List them again.');
    },
  });
}

function viewOf({ name, position, committedAt, createdAt }: Bookmark) {
  return { name, position, committedAt, createdAt };
}
