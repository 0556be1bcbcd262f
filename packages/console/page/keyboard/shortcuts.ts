import { ALL_LETTERS, href, type Route } from '../place/route.ts';
import { isTyping } from './typing.ts';
import { place } from '../place/place.ts';
import { shortcuts } from '../browser/session.ts';

/** What single keys do, as the page of help lists them. */
export const SHORTCUTS: readonly (readonly [string, string])[] = [
  ['?', 'This list'],
  ['/', 'Search'],
  ['g then o, k, l, b, h or a', 'Overview, keys, letters, bookmarks and replays, health, audit log'],
  ['j, k or arrows', 'Down and up in the list of keys'],
  ['Enter', 'Open the chosen key'],
  ['r, p, h', 'Retry, park, hold or release the chosen key'],
  ['Esc', 'Close what is open, or leave the search for the list'],
];

/** Milliseconds between `g` and what comes after it. */
const TOGETHER = 1_500;

/** Listens for the keys that work everywhere. */
export function listenForShortcuts(help: () => void): () => void {
  let since = -Infinity;
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && event.target instanceof HTMLElement && 'search' in event.target.dataset) {
      // The browser would empty it.
      event.preventDefault();
      event.target.blur();
    }
    if (!shortcuts.value || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.timeStamp - since < TOGETHER) {
      since = -Infinity;
      const route = routeFor(event.key);
      if (route === null) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      location.hash = href(route);
    } else if (event.key === 'g') since = event.timeStamp;
    else if (event.key === '?') help();
    else if (event.key === '/') {
      const search = document.querySelector<HTMLInputElement>('[data-search]');
      if (search === null) return;
      event.preventDefault();
      search.focus();
    }
  };
  // Before the lists: the second key of two is not theirs.
  window.addEventListener('keydown', pressed, true);
  return () => {
    window.removeEventListener('keydown', pressed, true);
  };
}

function routeFor(key: string): Route | null {
  const now = place.value;
  if (now.view === 'pipelines') return null;
  const { pipeline } = now;
  switch (key) {
    case 'o':
      return { view: 'overview', pipeline };
    case 'k':
      return { view: 'keys', pipeline, list: 'oldest', search: '' };
    case 'l':
      return { view: 'letters', pipeline, filter: ALL_LETTERS };
    case 'b':
      return { view: 'replays', pipeline };
    case 'h':
      return { view: 'health', pipeline };
    case 'a':
      return { view: 'audit', pipeline };
    default:
      return null;
  }
}
