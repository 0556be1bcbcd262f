/**
 * What `npm run screenshots` runs: takes the pictures of the console that the docs show. A shop with a few hundred orders runs
 * for two minutes on a Postgres of its own, some of them in trouble, and a browser looks at it.
 *
 * Keys are the same at each run, and so are the times by the clock: each run begins at three in the morning.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { build, install, requireNode, root, say } from './prepare.mjs';

requireNode(20, 19);
await install();
await build(['@strandline/demo', '@strandline/test-kit']);
const { openShop } = await import('./screenshots/shop.mjs');
const { testBrowser } = await import('../test/kit/dist/index.js');

const FOLDER = path.join(root, 'docs', 'images');
/** Milliseconds until the charts have something to show. */
const RUN = 80_000;
const NIGHT = Date.parse('2026-03-08T03:00:00Z');

const OVERVIEW = '#/order-mails/overview';
/** A picture each: its address, and what is done there first. */
const PICTURES = [
  { name: 'overview', at: OVERVIEW },
  { name: 'overview-dark', at: OVERVIEW, colorScheme: 'dark' },
  { name: 'keys', at: '#/order-mails/keys?list=failing', viewport: { width: 1280, height: 800 } },
  { name: 'key', at: '#/order-mails/key?key=58', first: showPayload },
  { name: 'letters', at: '#/order-mails/letters', first: openLetter },
  { name: 'replays', at: '#/order-mails/replays' },
  { name: 'health', at: '#/order-mails/health', first: untilDoctorAnswers },
  { name: 'phone', at: OVERVIEW, viewport: { width: 360, height: 740 } },
];

say(`A shop runs for ${String(RUN / 1_000)} seconds …`);
const startedAt = Date.now();
await mkdir(FOLDER, { recursive: true });
await using(openShop(), async (shop) => {
  await shop.run(startedAt + RUN);
  await using(testBrowser(), async (browser) => {
    for (const { colorScheme, viewport = { width: 1280, height: 1000 }, ...picture } of PICTURES) {
      const options = { origin: shop.url, colorScheme, viewport };
      await using(browser.open(options), (opened) => take(picture, opened));
    }
  });
});
say(`The pictures are in ${path.relative(root, FOLDER)}.`);

async function take({ name, at, first }, { page, faults }) {
  await page.addInitScript(shiftClock, NIGHT - startedAt);
  await page.route('**/api/v1/pipelines/order-mails', nameProcess);
  await page.goto(`/${at}`);
  await page.locator('h1').waitFor();
  await first?.(page);
  // Charts and lists are filled by the second look.
  await delay(2_500);
  await page.evaluate(() => document.activeElement?.blur());
  const picture = await page.screenshot({ scale: 'css' });
  await writeFile(path.join(FOLDER, `${name}.png`), picture);
  const wrong = await faults.all();
  if (wrong.length > 0) throw new Error(`The console has faults at ${at}:\n${wrong.join('\n')}`);
  say(`${name}.png, ${String(Math.round(picture.length / 1_000))} kB`);
}

/** Node 20 has no `await using`. */
async function using(opening, use) {
  const opened = await opening;
  try {
    await use(opened);
  } finally {
    await opened[Symbol.asyncDispose]();
  }
}

/** In the page: moments by the clock are told as if the shop had opened at the same time each night. */
function shiftClock(shift) {
  const { get } = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format');
  Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', {
    get() {
      const format = get.call(this);
      return (date) => format(Number(date) + shift);
    },
  });
}

/** The process has another number at each run, and each machine another name. */
async function nameProcess(route) {
  const answer = await (await route.fetch()).json();
  await route.fulfill({
    json: { ...answer, instances: answer.instances.map((one) => ({ ...one, host: 'shop-1', pid: 4711 })) },
  });
}

async function showPayload(page) {
  await page
    .getByRole('button', { name: /^Show the payload/ })
    .first()
    .click();
}

async function openLetter(page) {
  await page
    .getByRole('button', { name: /^Open the letter/ })
    .first()
    .click();
  await page
    .getByRole('button', { name: /^Show the payload/ })
    .first()
    .click();
}

async function untilDoctorAnswers(page) {
  await page
    .getByText(/checks/)
    .first()
    .waitFor();
}
