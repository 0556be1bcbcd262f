import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { Finding, Logger } from '@strandline/core';
import type { Pipeline } from '@strandline/pipeline';
import type { Context } from 'hono';
import { audited } from '../audit/audited.js';
import type { AuditLog } from '../audit/audit-log.js';
import { adminError } from '../errors.js';
import type { PipelineHealth } from '../health/verdict.js';
import type { History } from '../live/history.js';
import { answeredWithin, CHANGE_PATIENCE, LOOK_PATIENCE } from './patience.js';
import { problemSchema } from './problem.js';

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

/** Who asks, as they call themselves: what operators have done says so. */
const by = z.string().min(1).max(100).optional();
export const note = z.string().max(500).optional();
export const keyText = z.string().min(1).max(65_536);
export const positionText = z.string().min(1).max(65_536);
/** What is asked where nothing is. */
const NOTHING = {};
const named = z.object({ pipeline: z.string().openapi({ param: { name: 'pipeline', in: 'path' } }) });

type Named = z.infer<typeof named>;
/** Without what was left out. */
type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };
type Asked<Shape extends z.ZodRawShape> = Defined<z.infer<z.ZodObject<Shape>>>;
/** What is told need not be anybody's to change. */
type Told<T> = T extends readonly (infer E)[]
  ? readonly Told<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Told<T[K]> }
    : T;

interface RouteOf<T extends z.ZodType> {
  /** Below the pipeline. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly answer: T;
  readonly described: string;
}

/** Something that is looked at, of one pipeline. */
export interface Look<
  Query extends z.ZodRawShape,
  Place extends z.ZodRawShape,
  T extends z.ZodType,
> extends RouteOf<T> {
  readonly query?: Query;
  /** What the path names beside the pipeline. */
  readonly place?: Place;
  /** Milliseconds that it may take. */
  readonly patience?: number;
  readonly run: (
    pipeline: Pipeline,
    asked: Asked<Query> & Asked<Place>,
  ) => Promise<Told<z.infer<T>>> | Told<z.infer<T>>;
}

/** Something that is changed, of one pipeline: who did it, to what and how it ended is written down. */
export interface Change<Body extends z.ZodRawShape, T extends z.ZodType> extends RouteOf<T> {
  /** `key.park`, `letters.discard`, … */
  readonly action: string;
  /** What it is about, beside who asks for it. */
  readonly body: Body;
  /** @param by who asks */
  readonly run: (pipeline: Pipeline, asked: Asked<Body>, by: string) => Promise<Told<z.infer<T>>>;
}

/** Adds a route that looks at something: it finds the pipeline, and answers in time. */
export function look<
  T extends z.ZodType,
  Query extends z.ZodRawShape = typeof NOTHING,
  Place extends z.ZodRawShape = typeof NOTHING,
>(api: Api, parts: ApiParts, { query, place, patience, run, ...of }: Look<Query, Place, T>): void {
  const params = place === undefined ? named : z.object({ ...named.shape, ...place });
  const request = query === undefined ? { params } : { params, query: z.object(query) };
  add(api, createRoute({ ...common(of), method: 'get', request }), async (context) => {
    const { pipeline: name, ...at } = validOf(context, 'param') as Named;
    const pipeline = pipelineNamed(parts, name);
    const asked = { ...(query === undefined ? {} : validOf(context, 'query')), ...at };
    const answer = async (): Promise<unknown> => run(pipeline, defined(asked) as Asked<Query> & Asked<Place>);
    return answeredWithin(patience ?? LOOK_PATIENCE, answer());
  });
}

/** Adds a route that changes something: it finds the pipeline, writes down who did what, and answers in time. */
export function change<T extends z.ZodType, Body extends z.ZodRawShape>(
  api: Api,
  parts: ApiParts,
  { action, body, run, ...of }: Change<Body, T>,
): void {
  const content = { 'application/json': { schema: z.strictObject({ ...body, by }) } };
  const request = { params: named, body: { required: true, content } };
  add(api, createRoute({ ...common(of), method: 'post', request }), async (context) => {
    const pipeline = pipelineNamed(parts, (validOf(context, 'param') as Named).pipeline);
    const { by: who, ...asked } = defined(validOf(context, 'json') as { by?: string });
    const done = audited(parts, context, { action, pipeline, by: who, about: asked }, (name) =>
      run(pipeline, asked as Asked<Body>, name),
    );
    return answeredWithin(CHANGE_PATIENCE, done);
  });
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

function common<T extends z.ZodType>({ path, tag, summary, answer, described }: RouteOf<T>) {
  return {
    ...{ path: `/pipelines/{pipeline}${path}`, tags: [tag], summary },
    responses: answers(answer, described),
  };
}

/** The types of a route that is made of parts are beyond the compiler: `look` and `change` say what goes in and out. */
function add(
  api: Api,
  route: Parameters<Api['openapi']>[0],
  answer: (context: Context) => Promise<unknown>,
): void {
  const handler = async (context: Context): Promise<Response> =>
    context.json((await answer(context)) as object, 200);
  api.openapi(route, handler as never);
}

/** What of a request has the types of the route, as the route has checked them. */
function validOf(context: Context, where: 'param' | 'query' | 'json'): object {
  return context.req.valid(where as never);
}

/** The pipeline that a path names. Throws `ADMIN_NOT_FOUND`. */
function pipelineNamed({ pipelines }: Pick<ApiParts, 'pipelines'>, name: string): Pipeline {
  const found = pipelines.find((pipeline) => pipeline.name === name);
  if (found !== undefined) return found;
  throw adminError(
    'ADMIN_NOT_FOUND',
    'This process has no pipeline by that name.',
    `It has ${pipelines.map((pipeline) => pipeline.name).join(', ')}.`,
  );
}

function defined<T extends object>(asked: T): Defined<T> {
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as Defined<T>;
}
