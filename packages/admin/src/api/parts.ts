import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { Finding, Logger } from '@strandline/core';
import type { Pipeline } from '@strandline/pipeline';
import type { Context } from 'hono';
import type { AuditLog } from '../audit/audit-log.js';
import { adminError } from '../errors.js';
import type { PipelineHealth } from '../health/verdict.js';
import type { History } from '../live/history.js';
import { problemOf, problemSchema } from './problem.js';

/** What the routes work with. */
export interface ApiParts {
  readonly pipelines: readonly Pipeline[];
  readonly health: () => readonly PipelineHealth[];
  readonly history: Pick<History, 'of'>;
  readonly audit: AuditLog;
  readonly log: Logger;
  /** What `strandline doctor` finds of a pipeline; null where nobody looks. */
  readonly examine: ((pipeline: Pipeline) => Promise<readonly Finding[]>) | null;
}

export type Api = OpenAPIHono;

const LONGEST_BY = 100;

/** Who asks, as they call themselves: what operators have done says so. */
export const by = z.string().min(1).max(LONGEST_BY).optional();
export const note = z.string().max(500).optional();
export const keyText = z.string().min(1).max(65_536);
export const named = z.object({ pipeline: z.string().openapi({ param: { name: 'pipeline', in: 'path' } }) });

/** A request's body in JSON. */
export function body<T extends z.ZodType>(
  schema: T,
): {
  readonly required: true;
  readonly content: { readonly 'application/json': { readonly schema: T } };
} {
  return { required: true, content: { 'application/json': { schema } } };
}

/** 200 with an answer in JSON, or a problem. */
export function answers<T extends z.ZodType>(
  schema: T,
  description: string,
): {
  readonly 200: {
    readonly description: string;
    readonly content: { readonly 'application/json': { readonly schema: T } };
  };
  readonly default: {
    readonly description: string;
    readonly content: { readonly 'application/json': { readonly schema: typeof problemSchema } };
  };
} {
  return {
    200: { description, content: { 'application/json': { schema } } },
    default: { description: 'A problem', content: { 'application/json': { schema: problemSchema } } },
  };
}

export { createRoute, z };

/** The pipeline that a path names. Throws `ADMIN_NOT_FOUND`. */
export function pipelineNamed({ pipelines }: Pick<ApiParts, 'pipelines'>, name: string): Pipeline {
  const found = pipelines.find((pipeline) => pipeline.name === name);
  if (found !== undefined) return found;
  throw adminError(
    'ADMIN_NOT_FOUND',
    'This process has no pipeline by that name.',
    `It has ${pipelines.map((pipeline) => pipeline.name).join(', ')}.`,
  );
}

export interface Change<T> {
  readonly action: string;
  readonly pipeline: string;
  readonly by: string | undefined;
  readonly about: Readonly<Record<string, unknown>>;
  readonly run: (by: string) => Promise<T>;
}

/** Changes something, and writes down who did it and how it ended. */
export async function change<T>(
  { audit }: Pick<ApiParts, 'audit'>,
  context: Context,
  { action, pipeline, by: name, about, run }: Change<T>,
): Promise<T> {
  const from = addressOf(context);
  const who = name ?? `somebody at ${from}`.slice(0, LONGEST_BY);
  const entry = { at: new Date().toISOString(), action, pipeline, by: who, from, about };
  try {
    const result = await run(who);
    audit.add({ ...entry, outcome: 'done' });
    return result;
  } catch (error) {
    audit.add({ ...entry, outcome: problemOf(error).problem.code });
    throw error;
  }
}

/** Of the connection, not of a header that anybody can set. */
function addressOf({ env }: Context): string {
  const { incoming } = env as {
    readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
  };
  return incoming?.socket?.remoteAddress ?? 'an unknown address';
}
