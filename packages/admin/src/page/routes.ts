import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { PAGE_HEADERS, type Page } from './page.js';

/** A year: as long as caches keep anything. */
const FOR_EVER = 'private, max-age=31536000, immutable';

/** Serves the console. Nothing in it is secret: what it shows it asks the API for, as the one who looks at it. */
export function pageRoutes(page: Page): Hono {
  const routes = new Hono();
  for (const [path, { type, body, immutable }] of page) {
    const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    const headers = {
      ...PAGE_HEADERS,
      'content-type': type,
      'cache-control': immutable ? FOR_EVER : 'no-cache',
      etag,
    };
    routes.get(path, (context) =>
      context.req.header('if-none-match') === etag
        ? context.body(null, 304, headers)
        : context.body(body, 200, headers),
    );
  }
  return routes;
}
