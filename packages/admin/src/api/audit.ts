import { answers, createRoute, z, type Api, type ApiParts } from './parts.js';
import { auditSchema } from './schemas.js';

const list = createRoute({
  ...{ method: 'get', path: '/audit', tags: ['audit'], summary: 'What was changed through this process' },
  request: { query: z.object({ limit: z.coerce.number().int().min(1).max(1_000).optional() }) },
  responses: answers(z.object({ entries: z.array(auditSchema) }), 'Newest first'),
});

export function addAudit(api: Api, { audit }: ApiParts): void {
  api.openapi(list, (context) => {
    const entries = audit
      .last(context.req.valid('query').limit ?? 100)
      .map((entry) => ({ ...entry, about: { ...entry.about } }));
    return context.json({ entries }, 200);
  });
}
