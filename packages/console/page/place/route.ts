/** Where in the console somebody is. */
export type Route =
  | { readonly view: 'pipelines' }
  | { readonly view: 'overview' | 'replays' | 'health' | 'audit'; readonly pipeline: string }
  | { readonly view: 'keys'; readonly pipeline: string; readonly list: KeyList; readonly search: string }
  | { readonly view: 'key'; readonly pipeline: string; readonly key: string }
  | { readonly view: 'letters'; readonly pipeline: string; readonly filter: LetterFilter };

/** The ways of looking at live keys. */
export const KEY_LISTS = ['oldest', 'failing', 'slowest', 'busiest', 'stuck', 'held'] as const;
export type KeyList = (typeof KEY_LISTS)[number];

export const LETTER_STATES = ['waiting', 'skipped', 'discarded', 'handled'] as const;

export interface LetterFilter {
  readonly key: string;
  readonly type: string;
  readonly error: string;
  readonly state: (typeof LETTER_STATES)[number];
  /** Minutes since it was parked, at least. */
  readonly age: string;
}

export const ALL_LETTERS: LetterFilter = { key: '', type: '', error: '', state: 'waiting', age: '' };

/**
 * Reads an address. Everything is behind its `#`: a browser sends nothing of that to anybody, and keys may be personal.
 * What makes no sense leads to the pipelines.
 */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [pipeline, view, ...rest] = path.split('/').map(decoded);
  if (pipeline === undefined || pipeline === '') return { view: 'pipelines' };
  const asked = new URLSearchParams(query);
  switch (view) {
    case 'keys':
      return { view, pipeline, list: oneOf(KEY_LISTS, asked.get('list')), search: asked.get('search') ?? '' };
    case 'key':
      return { view, pipeline, key: asked.get('key') ?? rest.join('/') };
    case 'letters':
      return { view, pipeline, filter: letterFilterOf(asked) };
    case 'replays':
    case 'health':
    case 'audit':
      return { view, pipeline };
    default:
      return { view: 'overview', pipeline };
  }
}

/** The address of a route. */
export function href(route: Route): string {
  if (route.view === 'pipelines') return '#/';
  const at = `#/${encodeURIComponent(wellFormed(route.pipeline))}/${route.view}`;
  switch (route.view) {
    case 'keys':
      return at + queryOf({ list: route.list === 'oldest' ? '' : route.list, search: route.search });
    case 'key':
      return at + queryOf({ key: route.key });
    case 'letters': {
      const { state, ...rest } = route.filter;
      return at + queryOf({ ...rest, state: state === 'waiting' ? '' : state });
    }
    default:
      return at;
  }
}

function letterFilterOf(asked: URLSearchParams): LetterFilter {
  return {
    key: asked.get('key') ?? '',
    type: asked.get('type') ?? '',
    error: asked.get('error') ?? '',
    state: oneOf(LETTER_STATES, asked.get('state')),
    age: /^\d{1,7}$/.test(asked.get('age') ?? '') ? (asked.get('age') ?? '') : '',
  };
}

function queryOf(fields: Readonly<Record<string, string>>): string {
  const asked = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== '')).toString();
  return asked === '' ? '' : `?${asked}`;
}

/** The first one where it is none of them. */
function oneOf<T extends string>(known: readonly [T, ...T[]], found: string | null): T {
  return known.find((one) => one === found) ?? known[0];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Half a pair can't be in an address. */
function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udfff]/gu, '\ufffd');
}
