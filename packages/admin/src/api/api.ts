import { OpenAPIHono } from '@hono/zod-openapi';
import { adminError, type AdminError } from '../errors.js';
import { addAudit } from './audit.js';
import { addBookmarks } from './bookmarks.js';
import { addKeys } from './keys.js';
import { addLetters } from './letters.js';
import type { Api, ApiParts } from './parts.js';
import { addPipelines } from './pipelines.js';
import { isUnexpected, problemOf, type Problem } from './problem.js';
import { addReplays } from './replays.js';

/** Of the API: it grows with what breaks those who use it. */
const VERSION = '1.0.0';

/** The routes below `/api/v1`, and `/api/v1/openapi.json`, which describes them. */
export function createApi(parts: ApiParts, readOnly: boolean): Api {
  const api = new OpenAPIHono({
    defaultHook: (result) => {
      if (!result.success) throw wrongRequest(result.error.issues);
    },
  });
  api.onError((error, context) => {
    const { status, problem } = problemOf(error);
    if (isUnexpected(problem)) parts.log.error({ err: error }, 'a request has failed');
    return context.json(problem, status);
  });
  addPipelines(api, parts, readOnly);
  addKeys(api, parts);
  addLetters(api, parts);
  addBookmarks(api, parts);
  addReplays(api, parts);
  addAudit(api, parts);
  api.doc31('/openapi.json', {
    openapi: '3.1.0',
    info: {
      title: 'Strandline',
      version: VERSION,
      description: 'What a running Strandline process tells, and what an operator can have it do.',
    },
    servers: [{ url: '/api/v1' }],
  });
  return api;
}

/** What is answered where no route is. */
export function nowhere(): Problem {
  const nothing = adminError(
    'ADMIN_NOT_FOUND',
    'There is nothing at this address.',
    'See /api/v1/openapi.json.',
  );
  return problemOf(nothing).problem;
}

/** What of a request is wrong: the field and the rule, not what was sent. */
function wrongRequest(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): AdminError {
  const told = issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.map(String).join('.') || 'the body'}: ${message}`);
  return adminError(
    'ADMIN_REQUEST',
    `The request is wrong: ${told.join('; ')}.`,
    'See /api/v1/openapi.json.',
  );
}
