import { expect, test } from 'vitest';
import type { Page } from '../src/page/page.js';
import { pageRoutes } from '../src/page/routes.js';

const page: Page = new Map([
  [
    '/',
    { type: 'text/html; charset=utf-8', body: new TextEncoder().encode('<!doctype html>'), immutable: false },
  ],
  ['/console/a.js', { type: 'text/javascript', body: new TextEncoder().encode('1'), immutable: true }],
]);

test('lets a browser load what is ours, run nothing inline, and show it in no frame', async () => {
  const answer = await pageRoutes(page).request('/');
  expect(await answer.text()).toBe('<!doctype html>');
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "frame-ancestors 'none'",
    "form-action 'none'",
    "trusted-types 'none'",
  ])
    expect(policy.split('; ')).toContain(rule);
  expect(answer.headers.get('x-frame-options')).toBe('DENY');
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
});

test('is asked for again, and a file that is named by its content never', async () => {
  const routes = pageRoutes(page);
  const first = await routes.request('/');
  expect(first.headers.get('cache-control')).toBe('no-cache');
  const again = await routes.request('/', { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
  expect([again.status, await again.text()]).toEqual([304, '']);
  expect((await routes.request('/console/a.js')).headers.get('cache-control')).toContain('immutable');
  expect((await routes.request('/console/../secret')).status).toBe(404);
});
