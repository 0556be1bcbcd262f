import { token } from '../browser/session.ts';
import { problemFrom, problemOf } from './problem.ts';

/** Below the page's own address: a proxy may have put it somewhere. */
const API = 'api/v1';

export type Query = Readonly<Record<string, string | number | undefined>>;

/** Asks. Throws `Problem`. */
export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return answerOf<T>(await send(pathWith(path, query), { ...(signal && { signal }) }));
}

/** Changes something. Throws `Problem`. */
export async function post<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return answerOf<T>(await send(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}

/** The answer of a stream, once it has begun. Throws `Problem`. */
export async function open(path: string, signal: AbortSignal): Promise<Response> {
  const response = await send(path, { signal, headers: { accept: 'text/event-stream' } });
  if (!response.ok) await answerOf(response);
  return response;
}

/** The path of something of a pipeline. */
export function ofPipeline(pipeline: string, rest = ''): string {
  return `pipelines/${encodeURIComponent(pipeline)}${rest}`;
}

async function send(path: string, { headers, ...request }: RequestInit): Promise<Response> {
  const authorization = token.value === '' ? {} : { authorization: `Bearer ${token.value}` };
  try {
    return await fetch(`${API}/${path}`, {
      ...request,
      headers: { ...(headers as Record<string, string> | undefined), ...authorization },
      // What proves who asks is the token, and nothing that a browser sends by itself.
      ...{ credentials: 'omit', cache: 'no-store', redirect: 'error' },
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw problemFrom(error);
  }
}

async function answerOf<T>(response: Response): Promise<T> {
  const body: unknown = await response.json().catch(() => null);
  if (response.ok && body !== null) return body as T;
  throw problemOf(response.status, body);
}

function pathWith(path: string, query: Query): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') asked.set(name, String(value));
  const text = asked.toString();
  return text === '' ? path : `${path}?${text}`;
}
