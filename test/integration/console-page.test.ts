import { axeViolations, testBrowser, type TestBrowser } from '@strandline/test-kit';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { button, dialog, fitsOnPhone, heading, openConsole, panel, SOON } from './console-page.js';
import { ConsoleStage } from './console-stage.js';

/** As long as a line of a phone is not, and without a place to break it. */
const LONG_KEY = `customer/${'0123456789abcdef'.repeat(12)}`;

let browser: TestBrowser;
let stage: ConsoleStage;
let url: string;
beforeAll(async () => {
  [browser, stage] = await Promise.all([testBrowser(), ConsoleStage.open('postgres')]);
  const invoices = stage.define('invoices');
  await Promise.all([stage.pipeline.start(), invoices.start()]);
  ({ url } = await stage.serve({ pipelines: [stage.pipeline, invoices] }));
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await browser[Symbol.asyncDispose]();
});

test('by keyboard alone: from opening to retrying a stuck key', async () => {
  const alone = await stage.serve();
  await stage.breakDown('by-keys', 'by-tabs');
  stage.broken.clear();
  await using opened = await openConsole(browser, alone.url);
  const { page } = opened;
  const { keyboard } = page;
  await page.getByText('TypeError').first().waitFor(SOON);
  await tabTo(page, 'Retry now: by-tabs');
  await keyboard.press('Enter');
  await page.getByText('by-tabs is tried now.').waitFor();
  await expect.poll(() => stage.timesHandled('by-tabs'), SOON).toBe(1);

  await keyboard.press('g');
  await keyboard.press('k');
  await heading(page, 'Keys').waitFor();
  await keyboard.press('/');
  await keyboard.type('by-k');
  await page.getByText('1 shown').waitFor();
  await keyboard.press('Escape');
  await keyboard.press('j');
  await keyboard.press('p');
  await dialog(page).waitFor();
  await keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'detached' });
  await keyboard.press('Enter');
  await heading(page, 'Key by-keys').waitFor();
  await page.goBack();
  await page.getByRole('row').filter({ hasText: 'by-keys' }).waitFor();
  await keyboard.press('j');
  await keyboard.press('r');
  await page.getByText('by-keys is tried now.').waitFor();
  await expect.poll(() => stage.timesHandled('by-keys'), SOON).toBe(1);
  await keyboard.press('?');
  await dialog(page).getByText('Keyboard and name').waitFor();
  expect(await opened.faults.all()).toEqual([]);
});

test('asks for the token, which stays in the tab alone', async () => {
  const guarded = await stage.serve({ token: 'open-sesame' });
  await using opened = await openConsole(browser, guarded.url, '#/orders/overview');
  const { page, faults } = opened;
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.getByLabel('Token').fill('guessed');
  await page.getByLabel('Token').press('Enter');
  await page.getByText('The one that was given is not it.').waitFor(SOON);
  faults.clear();
  await page.getByLabel('Token').fill('open-sesame');
  await page.getByLabel('Token').press('Enter');
  await heading(page, 'Overview').waitFor(SOON);
  await page.getByText('live', { exact: true }).waitFor();
  expect([...asked, page.url()].join()).not.toContain('sesame');
  expect(await page.evaluate<string>('JSON.stringify({...localStorage})')).not.toContain('sesame');
  await page.reload();
  await heading(page, 'Overview').waitFor(SOON);
  expect(await faults.all()).toEqual([]);
});

test('where nothing may be changed nothing can be pressed, and what is forced is refused', async () => {
  const shown = await stage.serve({ readOnly: true });
  await stage.breakDown('only-seen');
  await stage.park('only-seen-letter');
  await using opened = await openConsole(browser, shown.url, '#/orders/key?key=only-seen');
  const { page, faults } = opened;
  const main = page.getByRole('main');
  const unchanging = /^(Payload|Show the payload|Open|Show more|Look again|Only count)/;
  await page.getByText('read-only').waitFor();
  await main.getByRole('button', { name: 'Retry now: only-seen' }).waitFor();
  for (const at of ['key?key=only-seen', 'overview', 'keys', 'letters', 'replays', 'health']) {
    await page.goto(`/#/orders/${at}`);
    await main.getByRole('heading', { level: 1 }).waitFor();
    if (at === 'letters')
      await page
        .getByLabel(/^Choose the key/)
        .first()
        .check();
    for (const one of await main.getByRole('button').all()) {
      const name = (await one.getAttribute('aria-label')) ?? (await one.textContent()) ?? '';
      if (!unchanging.test(name) && name !== 'None')
        expect([name, await one.isDisabled()]).toEqual([name, true]);
    }
  }
  await page.goto('/#/orders/keys');
  await page.getByRole('row').filter({ hasText: 'only-seen' }).waitFor();
  for (const key of ['j', 'r', 'p', 'h']) await page.keyboard.press(key);
  expect(await dialog(page).count()).toBe(0);
  expect(await faults.all()).toEqual([]);
  const forced = `fetch('api/v1/pipelines/orders/keys/retry', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"key":"only-seen"}' }).then((answer) => answer.json())`;
  expect(await page.evaluate(forced)).toMatchObject({ code: 'ADMIN_READ_ONLY' });
  expect(stage.timesHandled('only-seen')).toBe(0);
});

test('says that what it shows is old when the process is out of reach, and goes on when it is back', async () => {
  const first = await stage.serve();
  await using opened = await openConsole(browser, first.url, '#/orders/keys');
  const { page, faults } = opened;
  await page.getByText('live', { exact: true }).waitFor(SOON);
  await first.stop();
  await page.getByText('out of reach: what is shown is old').waitFor(SOON);
  await heading(page, 'Keys').waitFor();
  faults.clear();
  await stage.serve({ address: new URL(first.url).port });
  await page.getByText('live', { exact: true }).waitFor(SOON);
  await page.getByRole('alert').waitFor({ state: 'detached' });
  expect(faults.consoleErrors.concat(faults.pageErrors, faults.cspViolations)).toEqual([]);
});

test('a standby says who has the pipeline', async () => {
  const standby = stage.define('orders');
  await standby.start();
  const { url: other } = await stage.serve({ pipelines: [standby] });
  await using opened = await openConsole(browser, other);
  const { page } = opened;
  await page.getByText('It stands by: another process has the pipeline').waitFor(SOON);
  await page.getByText(`pid ${String(process.pid)}`).waitFor(SOON);
  await page.getByRole('link', { name: 'Health and owners' }).click();
  const rows = panel(page, 'Processes').getByRole('row');
  await rows.filter({ hasText: 'running' }).waitFor();
  await rows.filter({ hasText: 'standby' }).waitFor();
  expect(await opened.faults.all()).toEqual([]);
  await standby.stop();
});

test('two pipelines are told apart, and switched between', async () => {
  await using opened = await openConsole(browser, url);
  const { page } = opened;
  await heading(page, 'Pipelines').waitFor(SOON);
  await page
    .getByRole('row')
    .filter({ hasText: 'orders' })
    .getByText(/in trouble|stuck/)
    .waitFor();
  await page.getByRole('link', { name: 'orders', exact: true }).click();
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.getByLabel('Pipeline').selectOption('invoices');
  await heading(page, 'Keys').waitFor();
  expect(page.url()).toContain('#/invoices/keys');
  expect(await opened.faults.all()).toEqual([]);
});

test('every view is accessible in light and dark, and as narrow as a phone', async () => {
  await stage.breakDown(LONG_KEY);
  await stage.park(`${LONG_KEY}-parked`);
  await stage.pipeline.bookmarks.create('a-bookmark');
  await using opened = await openConsole(browser, url);
  const { page, faults } = opened;
  const found: unknown[] = [];
  for (const [at, prepare] of Object.entries(VIEWS)) {
    await page.goto(`/${at}`);
    await prepare(page);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const violation of await axeViolations(page)) found.push([at, colorScheme, violation]);
    }
    if (!(await fitsOnPhone(page))) found.push([at, 'is wider than a phone']);
    if (await dialog(page).isVisible()) await page.keyboard.press('Escape');
  }
  expect(found).toEqual([]);
  expect(await faults.all()).toEqual([]);
});

test('every file of the page says what a browser may do with it', async () => {
  const index = await fetch(url);
  const files = [...(await index.clone().text()).matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(
    ([, file]) => file,
  );
  expect(files).toHaveLength(3);
  const answers = [index, ...(await Promise.all(files.map((file) => fetch(`${url}/${String(file)}`))))];
  for (const { status, headers } of answers) {
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'; require-trusted-types-for 'script'/,
    );
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  }
});

/** The views with something in them, by their addresses. */
const VIEWS: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  '#/': (page) => page.getByRole('row').nth(2).waitFor(),
  '#/orders/overview': async (page) => {
    await page.getByText('TypeError').first().waitFor();
    await button(page, 'Pause the pipeline').click();
    await button(dialog(page), 'Leave it').click();
    await page
      .getByRole('button', { name: /^Retry now: customer/ })
      .first()
      .click();
    await page.getByRole('status').getByText('is tried now').waitFor();
  },
  '#/orders/keys?list=failing': async (page) => {
    await page.getByRole('row').nth(1).waitFor();
    await page.keyboard.press('j');
  },
  [`#/orders/key?key=${LONG_KEY}`]: async (page) => {
    await page
      .getByRole('button', { name: /^Show the payload/ })
      .first()
      .click();
    await page.locator('pre').waitFor();
  },
  '#/orders/letters': async (page) => {
    await page
      .getByRole('button', { name: /^Open the letter/ })
      .first()
      .click();
    await page.getByText('The error in full').first().click();
    await page
      .getByRole('button', { name: /^Show the payload/ })
      .first()
      .click();
    await page
      .getByLabel(/^Choose the key/)
      .first()
      .check();
  },
  '#/orders/letters?state=handled': async (page) => {
    await heading(page, 'Dead letters').waitFor();
    await page.keyboard.press('?');
    await dialog(page).waitFor();
  },
  '#/orders/replays': async (page) => {
    await button(page, 'Replay from a-bookmark').click();
    await button(panel(page, 'Replay a part of the log'), 'Replay').click();
    await dialog(page).waitFor();
  },
  '#/orders/health': async (page) => {
    await page.getByText(/checks passed/).click({ timeout: 30_000 });
    await panel(page, 'Offset and log').getByText('Watermark').waitFor();
  },
  '#/orders/audit': (page) => page.getByText('key.retry').first().waitFor(),
  '#/nowhere/keys': (page) => heading(page, 'No such pipeline').waitFor(),
};

/** Presses Tab until what has that name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate("document.activeElement?.getAttribute('aria-label')")) === name) return;
  }
  throw new Error(`Tab does not lead to ${name}.`);
}
