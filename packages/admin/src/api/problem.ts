import { isDeepStrictEqual } from 'node:util';
import { z } from '@hono/zod-openapi';
import { HTTPException } from 'hono/http-exception';

/** How every error is answered. */
export const problemSchema = z
  .object({
    code: z.string().openapi({ description: 'Stable: one of the closed sets of codes.' }),
    problem: z.string(),
    remedy: z.string(),
  })
  .openapi('Problem');

export type Problem = z.infer<typeof problemSchema>;
export type ProblemStatus = 400 | 404 | 409 | 413 | 500 | 503;

const NOT_FOUND = new Set([
  'PIPELINE_KEY_UNKNOWN',
  'REPLAY_BOOKMARK',
  'ADMIN_NOT_FOUND',
  'PIPELINE_NO_OFFSET',
]);
const WRONG = new Set([
  ...['PIPELINE_CONTROL', 'PIPELINE_BOOKMARK', 'PIPELINE_POSITION', 'PIPELINE_CONFIG'],
  ...['REPLAY_CONFIG', 'REPLAY_RANGE', 'ADMIN_REQUEST', 'LETTERS_CONFIG'],
]);
/** How things stand speaks against it; a store is closed when its pipeline has stopped here. */
const CONFLICT =
  /^(?:[A-Z]+_(?:HISTORY_GONE|PURGED|CLOSED)|PIPELINE_(?:KEY_STATE|KEY_BUSY|NOT_OWNER|NO_LETTERS|LETTERS_FULL|CONTROLS_MOVED|OFFSET_MOVED|RUNNING|STATE)|REPLAY_(?:UNFINISHED|NAME|TAKEN|HOOK))$/;

/**
 * An error as it is answered. Told by its shape, since a config may bring its own copy of the packages; of anybody else's
 * error nothing is told, it may carry anything.
 */
export function problemOf(error: unknown): { readonly status: ProblemStatus; readonly problem: Problem } {
  if (error instanceof HTTPException && error.status === 400) return { status: 400, problem: NO_JSON };
  const { code, message, remedy, transient } = (error ?? {}) as Partial<Record<string, unknown>>;
  if (typeof code !== 'string' || typeof remedy !== 'string' || typeof message !== 'string')
    return { status: 500, problem: UNEXPECTED };
  const problem = message.endsWith(remedy) ? message.slice(0, -remedy.length).trimEnd() : message;
  return { status: statusOf(code, transient === true), problem: { code, problem, remedy } };
}

function statusOf(code: string, transient: boolean): ProblemStatus {
  if (NOT_FOUND.has(code)) return 404;
  if (WRONG.has(code) || code.endsWith('_POSITION')) return 400;
  if (code === 'ADMIN_TOO_LARGE') return 413;
  if (CONFLICT.test(code)) return 409;
  return transient || code.endsWith('_UNAVAILABLE') ? 503 : 500;
}

/** What is no JSON is noticed before anybody looks at what it says. */
const NO_JSON: Problem = {
  code: 'ADMIN_REQUEST',
  problem: 'The body is no JSON.',
  remedy: 'Send what /api/v1/openapi.json describes, and {} when there is nothing to say.',
};

const UNEXPECTED: Problem = {
  code: 'ADMIN_UNEXPECTED',
  problem: 'Something went wrong that nobody foresaw.',
  remedy: 'The log of this process has the error.',
};

/** Whether it is one that nobody foresaw. */
export function isUnexpected(problem: Problem): boolean {
  return isDeepStrictEqual(problem, UNEXPECTED);
}
