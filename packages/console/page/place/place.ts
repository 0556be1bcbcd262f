import { signal } from '@preact/signals';
import { href, parseRoute, type Route } from './route.ts';

/** Where somebody is. Read by the views, set by links and by `go`. */
export const place = signal<Route>(parseRoute(location.hash));

window.addEventListener('hashchange', () => {
  place.value = parseRoute(location.hash);
});

export function go(route: Route): void {
  location.hash = href(route);
}

/** The same place told more exactly, without a step of its own in the browser's history. */
export function refine(route: Route): void {
  history.replaceState(null, '', href(route));
  place.value = route;
}
