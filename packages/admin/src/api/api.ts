import { OpenAPIHono } from '@hono/zod-openapi';
import type { Logger } from '@strandline/core';
import type { ErrorHandler } from 'hono';
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
  api.onError(problemsTo(parts.log));
  addPipelines(api, parts, readOnly);
  addKeys(api, parts);
  addLetters(api, parts);
  addBookmarks(api, parts);
  addReplays(api, parts);
  addAudit(api, parts);
  // Which of the two it takes is the address's to say: on one that others reach there is a token.
  api.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' });
  api.doc31('/openapi.json', {
    openapi: '3.1.0',
    info: {
      title: 'Strandline',
      version: VERSION,
      description: 'What a running Strandline process tells, and what an operator can have it do.',
    },
    servers: [{ url: '/api/v1' }],
    security: [{ token: [] }, {}],
  });
  return api;
}

/** Answers errors as problems; one that nobody foresaw is logged. */
export function problemsTo(log: Logger): ErrorHandler {
  return (error, context) => {
    const { status, problem } = problemOf(error);
    if (isUnexpected(problem)) log.error({ err: error }, 'a request has failed');
    return context.json(problem, status);
  };
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
