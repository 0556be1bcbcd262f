import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium } from '@strandline/servers';
import { axeViolations, testBrowser, waitUntil, type TestBrowser } from '@strandline/test-kit';

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src *";

const STYLE = `
  body { font: 40px sans-serif; margin: 0; color: #111; background: #fff }
  b { font-weight: normal }
  #mono, .mono { font-family: monospace }
  #serif { font-family: serif }
  #dim { color: #ccc }
  button { width: 10px; height: 10px; padding: 0; border: 0; margin: 0; font-size: 6px }
  @media (prefers-color-scheme: dark) { body { background: rgb(0, 0, 1) } }
  @media (prefers-reduced-motion: reduce) { body { margin-top: 7px } }`;

const frame = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><link rel="stylesheet" href="/style.css">
   <script type="module" src="/script.js"></script></head><body><main><h1>${title}</h1>${body}</main></body></html>`;

const pages: Readonly<Record<string, string>> = {
  '/clean': frame('Clean', '<p>Nothing to object to.</p>'),
  '/text': frame(
    'Text',
    '<p><b id="sans">illicit</b></p><p><b id="mono">illicit</b></p><p><b id="serif">illicit</b></p>' +
      '<p><b id="abc" class="mono">abc</b></p><p><b id="xyz" class="mono">xyz</b></p><p><b id="symbols" class="mono">✓⚠</b></p>',
  ),
  '/flawed': frame(
    'Flawed',
    '<p id="dim">Hard to read</p><img src="/dot.png"><button>a</button><button>b</button>',
  ),
  '/inline': frame(
    'Inline',
    '<p id="out">as served</p><script>document.getElementById("out").textContent = "ran"</script>',
  ),
};

/** A browser from the PATH shows the machine's own fonts. */
const hasFonts = (await chromium()).fonts !== undefined;

let server: Server;
let other: Server;
let browser: TestBrowser;
beforeAll(async () => {
  [server, other, browser] = await Promise.all([
    serve(application),
    serve((_request, response) => response.setHeader('access-control-allow-origin', '*').end('elsewhere')),
    testBrowser(),
  ]);
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  for (const each of [server, other]) {
    each.closeAllConnections();
    each.close();
  }
});

const application: RequestListener = ({ url = '' }, response) => {
  response.setHeader('content-security-policy', POLICY);
  const page = pages[url];
  if (page !== undefined) response.setHeader('content-type', 'text/html').end(page);
  else if (url === '/style.css') response.setHeader('content-type', 'text/css').end(STYLE);
  else if (url === '/script.js')
    response.setHeader('content-type', 'text/javascript').end('window.ran = true');
  else if (url === '/dot.png') response.setHeader('content-type', 'image/png').end(DOT);
  else response.writeHead(404).end();
};

/** One pixel. */
const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

async function serve(listener: RequestListener): Promise<Server> {
  const listening = createServer(listener).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return listening;
}

function originOf(of: Server): string {
  return `http://127.0.0.1:${String((of.address() as AddressInfo).port)}`;
}

describe('what goes wrong in a page', () => {
  test('is nothing in a clean one', async () => {
    await using opened = await browser.open({ origin: originOf(server) });
    await opened.page.goto('/clean');
    expect(await opened.page.evaluate('window.ran')).toBe(true);
    expect(await axeViolations(opened.page)).toEqual([]);
    expect(await opened.page.evaluate('"axe" in window')).toBe(false);
    expect(await opened.faults.all()).toEqual([]);
  });

  test('is what its policy forbids', async () => {
    await using opened = await browser.open({ origin: originOf(server) });
    await opened.page.goto('/inline');
    expect(await opened.page.textContent('#out')).toBe('as served');
    expect(await opened.faults.all()).toEqual([
      expect.stringMatching(/^CSP violation: .*inline script.*script-src 'self'/s),
    ]);
  });

  test('is what it asks of another origin, through WebSockets too, and from pages that it opens', async () => {
    await using opened = await browser.open({ origin: originOf(server) });
    const { page, faults } = opened;
    await page.goto('/clean');
    const elsewhere = originOf(other);
    expect(await page.evaluate(`fetch('${elsewhere}/a').then((answer) => answer.text())`)).toBe('elsewhere');
    await page.evaluate(`void new WebSocket('${elsewhere.replace('http', 'ws')}/b')`);
    await page.evaluate(`void window.open('${elsewhere}/c')`);
    await waitUntil('they are seen', () => faults.foreignRequests.length >= 3);
    expect(faults.foreignRequests).toEqual([
      `GET ${elsewhere}/a`,
      ...[`WebSocket ${elsewhere.replace('http', 'ws')}/b`, `GET ${elsewhere}/c`],
    ]);
  });

  test('is what can’t be had, once: names beyond this machine too', async () => {
    await using opened = await browser.open({ origin: originOf(server) });
    const { page, faults } = opened;
    await page.goto('/clean');
    await page.evaluate(`fetch('/missing').then(() => fetch('https://example.com/')).catch(() => undefined)`);
    await waitUntil('both have failed', () => faults.failedRequests.length >= 2);
    expect(await faults.all()).toEqual([
      `failed request: GET ${originOf(server)}/missing: 404`,
      'failed request: GET https://example.com/: net::ERR_NAME_NOT_RESOLVED',
      'foreign request: GET https://example.com/',
    ]);
    faults.clear();
    expect(await faults.all()).toEqual([]);
  });

  test('is what it complains of, and what nobody caught; not what it gave up itself', async () => {
    await using opened = await browser.open({ origin: originOf(server) });
    const { page, faults } = opened;
    await page.goto('/clean');
    await page.evaluate(`
      console.warn('no error');
      console.error('said', 1);
      setTimeout(() => { throw new Error('thrown') });
      void Promise.reject(new Error('rejected'));
      const controller = new AbortController();
      fetch('/clean', { signal: controller.signal }).catch(() => undefined);
      controller.abort();`);
    await waitUntil('both errors are seen', () => faults.pageErrors.length >= 2);
    const all = await faults.all();
    expect(all[0]).toBe('console error: said 1');
    expect(all.slice(1).toSorted()).toEqual([
      expect.stringMatching(/^page error: Error: rejected/),
      expect.stringMatching(/^page error: Error: thrown/),
    ]);
  });
});

test('axe finds what is planted, and says where and why', async () => {
  await using opened = await browser.open({ origin: originOf(server) });
  await opened.page.goto('/flawed');
  const found = await axeViolations(opened.page);
  expect(found).toContainEqual({
    rule: 'color-contrast',
    impact: 'serious',
    selector: '#dim',
    problem: expect.stringMatching(
      /^Fix any of the following: Element has insufficient color contrast of 1\.\d/,
    ) as string,
  });
  expect(found).toContainEqual(
    expect.objectContaining({ rule: 'image-alt', impact: 'critical', selector: 'img' }),
  );
  // Of WCAG 2.2.
  expect(found.map(({ rule }) => rule)).toContain('target-size');
  expect(await opened.faults.all()).toEqual([]);
});

describe('text', () => {
  test('has shapes of its own in a picture, the same each time', async () => {
    await using opened = await browser.open({ origin: originOf(server) });
    const { page } = opened;
    await page.goto('/text');
    const picture = async (id: string): Promise<string> =>
      (await page.locator(`#${id}`).screenshot()).toString('base64');
    const [abc, xyz, symbols, again] = [
      await picture('abc'),
      await picture('xyz'),
      await picture('symbols'),
      await picture('abc'),
    ];
    // Where a font lacks them, characters are all the same box.
    expect(new Set([abc, xyz, symbols]).size).toBe(3);
    expect(again).toBe(abc);
  });

  test('is as wide as its font makes it', async () => {
    await using opened = await browser.open({ origin: originOf(server) });
    await opened.page.goto('/text');
    const narrow = await widthOf(opened.page, 'sans');
    expect(await widthOf(opened.page, 'mono')).toBeGreaterThan(narrow * 1.5);
    expect(await widthOf(opened.page, 'serif')).not.toBe(narrow);
  });

  test.runIf(hasFonts)('is that of Arial, Courier and Times, on every machine', async () => {
    await using opened = await browser.open({ origin: originOf(server) });
    const { page } = opened;
    await page.goto('/text');
    // Seven letters: five of them 0.222 em wide in Arial and 0.278 em in Times, and a c and a t. All are 0.6 em in Courier.
    expect(await widthOf(page, 'sans')).toBe(5 * 9 + 20 + 11);
    expect(await widthOf(page, 'mono')).toBe(7 * 24);
    expect(await widthOf(page, 'serif')).toBe(5 * 11 + 18 + 11);
    // Where those fonts lack a character, there is one that has it.
    expect(await fontsOf(page, '#symbols')).toEqual(['DejaVu Sans']);
  });
});

function widthOf(page: Page, id: string): Promise<number> {
  return page.evaluate(`document.getElementById('${id}').getBoundingClientRect().width`);
}

/** Those that the characters of an element are really drawn with. */
async function fontsOf(page: Page, selector: string): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  await session.send('DOM.enable');
  await session.send('CSS.enable');
  const { root } = await session.send('DOM.getDocument');
  const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector });
  const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId });
  return fonts.map(({ familyName }) => familyName);
}

test('a page is shown as its options say', async () => {
  await using opened = await browser.open({
    origin: originOf(server),
    colorScheme: 'dark',
    reducedMotion: 'reduce',
    viewport: { width: 400, height: 300 },
  });
  await opened.page.goto('/clean');
  const seen = await opened.page.evaluate(`({
    background: getComputedStyle(document.body).backgroundColor,
    margin: getComputedStyle(document.body).marginTop,
    size: [innerWidth, innerHeight],
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  })`);
  expect(seen).toEqual({ background: 'rgb(0, 0, 1)', margin: '7px', size: [400, 300], zone: 'UTC' });
});
