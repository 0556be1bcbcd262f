import { Hono } from 'hono';
import type { PipelineHealth } from './verdict.js';

/**
 * - `/livez`: this process answers, so its event loop turns.
 * - `/readyz`: every pipeline is owned or stood by for, its source is connected and its offset can be saved.
 * - `/healthz`: that, and none has work and does nothing of it.
 *
 * 200 or 503, with the reasons. They carry no key and no payload, so that a probe needs no token.
 */
export function healthRoutes(health: () => readonly PipelineHealth[]): Hono {
  const routes = new Hono();
  routes.use(async (context, next) => {
    await next();
    context.header('cache-control', 'no-store');
  });
  routes.get('/livez', (context) => context.json({ status: 'ok' }));
  routes.get('/readyz', (context) => {
    const pipelines = health();
    return context.json(
      ...answer(
        pipelines,
        pipelines.every(({ ready }) => ready),
      ),
    );
  });
  routes.get('/healthz', (context) => {
    const pipelines = health();
    return context.json(
      ...answer(
        pipelines,
        pipelines.every(({ ready, advancing }) => ready && advancing),
      ),
    );
  });
  return routes;
}

function answer(pipelines: readonly PipelineHealth[], well: boolean): [object, 200 | 503] {
  return [{ status: well ? 'ok' : 'failing', pipelines }, well ? 200 : 503];
}
