import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ALL_LETTERS, href, KEY_LISTS, LETTER_STATES, parseRoute, type Route } from '../page/place/route.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 30 });
const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const routes: fc.Arbitrary<Route> = fc.oneof(
  fc.constant<Route>({ view: 'pipelines' }),
  fc.record({ view: fc.constantFrom('overview', 'replays', 'health', 'audit'), pipeline: name }),
  fc.record({ view: fc.constant('keys'), pipeline: name, list: fc.constantFrom(...KEY_LISTS), search: text }),
  fc.record({ view: fc.constant('key'), pipeline: name, key: text }),
  fc.record({
    view: fc.constant('letters'),
    pipeline: name,
    filter: fc.record({
      ...{ key: text, type: text, error: text },
      state: fc.constantFrom(...LETTER_STATES),
      age: fc.constantFrom('', '0', '15'),
    }),
  }),
);

test('an address leads to where it was made, whatever the key is', () => {
  fc.assert(
    fc.property(routes, (route) => {
      expect(parseRoute(href(route))).toEqual(route);
    }),
  );
});

test.each([
  ['', { view: 'pipelines' }],
  ['#/', { view: 'pipelines' }],
  ['#/orders', { view: 'overview', pipeline: 'orders' }],
  ['#/orders/nowhere', { view: 'overview', pipeline: 'orders' }],
  ['#/orders/keys?list=odd', { view: 'keys', pipeline: 'orders', list: 'oldest', search: '' }],
  ['#/orders/letters?age=-1&state=odd', { view: 'letters', pipeline: 'orders', filter: ALL_LETTERS }],
  ['#/100%/overview', { view: 'overview', pipeline: '100%' }],
])('%s is read as far as it makes sense', (hash, route) => {
  expect(parseRoute(hash)).toEqual(route);
});
