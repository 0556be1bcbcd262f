import { testBrowser, waitUntil, type TestBrowser } from '@strandline/test-kit';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { button, dialog, fitsOnPhone, heading, openConsole, panel, SOON } from './console-page.js';
import { ConsoleStage, HOSTILE } from './console-stage.js';

let browser: TestBrowser;
beforeAll(async () => {
  browser = await testBrowser();
});
afterAll(() => browser[Symbol.asyncDispose]());

describe.each(['postgres', 'mysql'] as const)('the console on %s', (kind) => {
  let stage: ConsoleStage;
  let url: string;
  beforeAll(async () => {
    stage = await ConsoleStage.open(kind);
    ({ url } = await stage.serve());
    await stage.pipeline.start();
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test('says which key is stuck, why, since when and what it holds up; it is retried and drains', async () => {
    await stage.breakDown('order-42');
    await stage.outbox.insert([{ key: 'order-42' }, { key: 'order-42' }, { key: 'fine' }]);
    await using opened = await openConsole(browser, url);
    const { page } = opened;
    const concern = page.getByRole('listitem').filter({ hasText: 'order-42' });
    await concern.getByText('TypeError: the carrier answered 503 after 3 s').waitFor(SOON);
    await concern.getByText(/failing for .+, 3 attempts/).waitFor();
    await concern
      .getByText(/Holds up 2 events of the key behind it, and the last .+ of the log.+ Next try in/)
      .waitFor();
    expect(await concern.getByRole('button').allTextContents()).toEqual(['Retry now', 'Park']);

    await concern.getByRole('link', { name: 'order-42', exact: true }).click();
    await heading(page, 'Key order-42').waitFor();
    const befell = panel(page, 'What befell it');
    await befell.getByText('attempt 3').waitFor();
    expect((await befell.locator('ins').allTextContents()).join(' ')).toContain('503');
    expect((await befell.locator('del').allTextContents()).join(' ')).toContain('502');
    await panel(page, 'Events that wait here (3)').waitFor();

    stage.broken.delete('order-42');
    await button(page, 'Retry now: order-42').click();
    await page.getByText('order-42 is tried now.').waitFor();
    await panel(page, 'Events that wait here (0)').waitFor();
    expect(stage.timesHandled('order-42')).toBe(3);
    await befell.getByText('retried').waitFor();

    await stage.breakDown('order-43', 'order-44');
    stage.broken.clear();
    await page.goto('/#/orders/keys?list=failing');
    await button(page, 'Retry the 2 keys that are shown').click();
    await page.getByText('2 keys are tried now.').waitFor();
    await waitUntil(
      'both drain',
      () => stage.timesHandled('order-43') + stage.timesHandled('order-44') === 2,
    );
    expect(await opened.faults.all()).toEqual([]);
  });

  test('sets a bookmark, replays from it and shows how far it is', async () => {
    await using opened = await openConsole(browser, url, '#/orders/replays');
    const { page } = opened;
    await page.getByLabel('A name for the end of the log as it is now').fill('before');
    await button(page, 'Set a bookmark').click();
    await page.getByText('The bookmark before is set.').waitFor();
    await stage.outbox.insert([{ key: 'again-1' }, { key: 'again-2' }, { key: 'again-1' }]);
    await waitUntil('they are handled', () => stage.timesHandled('again-1') === 2);

    await button(page, 'Replay from before').click();
    expect(await page.getByLabel('Which one it begins after').inputValue()).toBe('before');
    await button(panel(page, 'Replay a part of the log'), 'Replay').click();
    await button(dialog(page), 'Replay').click();
    const replay = panel(page, 'Replays').getByRole('listitem');
    await replay.getByText('completed').waitFor(SOON);
    await replay.getByText(/^100 %, 3 events, /).waitFor();
    expect(await page.getByRole('progressbar').getAttribute('value')).toBe('1');
    const replayed = stage.handled.filter((one) => one.replay).map(({ key }) => key);
    expect(replayed.toSorted()).toEqual(['again-1', 'again-1', 'again-2']);
    expect(await opened.faults.all()).toEqual([]);
  });

  test('holds one key with a note, and lets it go by Undo; pauses all, and resumes', async () => {
    await using opened = await openConsole(browser, url, '#/orders/key?key=kept');
    const { page } = opened;
    await button(page, 'Hold kept').click();
    await dialog(page).getByLabel('Why (others will read it)').fill('asked the customer');
    await dialog(page).getByLabel('Your name').fill('ada');
    await button(dialog(page), 'Hold it').click();
    await page.getByText('kept is held.').waitFor();
    await stage.outbox.insert([{ key: 'kept' }, { key: 'other' }]);
    await waitUntil('the other one is handled', () => stage.timesHandled('other') === 1);
    await page.getByText(/^ada, .*: asked the customer$/).waitFor();
    await panel(page, 'Events that wait here (1)').waitFor();
    expect(stage.timesHandled('kept')).toBe(0);
    await button(page, 'Undo').click();
    await waitUntil('it goes on', () => stage.timesHandled('kept') === 1);
    await panel(page, 'Now').getByText('nobody').waitFor();

    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await button(page, 'Pause the pipeline').click();
    await button(dialog(page), 'Pause').click();
    await page.getByText('Paused by somebody').waitFor();
    await stage.outbox.insert([{ key: 'paused' }]);
    await waitUntil('it has come', async () => (await stage.pipeline.key('paused')).strand !== null);
    expect(stage.timesHandled('paused')).toBe(0);
    await button(page, 'Resume the pipeline').click();
    await waitUntil('it is handled', () => stage.timesHandled('paused') === 1);
    await button(page, 'Pause the pipeline').waitFor();
    expect(await opened.faults.all()).toEqual([]);
  });

  test('a payload and a key with markup, odd characters or great length stay text', async () => {
    const odd = kind === 'mysql' ? 'nul\u0000end' : `long-${'x'.repeat(60_000)}`;
    const keys = ['<img src=x onerror=alert(3)>', 'invoice\u202efdp.exe', odd];
    await stage.breakDown(...keys);
    const parked = `${HOSTILE} parked`;
    await stage.park(parked);
    await using opened = await openConsole(browser, url, '#/orders/keys?list=failing');
    const { page } = opened;
    const dialogs: string[] = [];
    page.on('dialog', (one) => {
      dialogs.push(one.message());
      void one.dismiss();
    });
    const seen = [
      '<img src=x onerror=alert(3)>',
      'invoice\\u202efdp.exe',
      kind === 'mysql' ? 'nul\\u0000end' : 'long-xxx',
    ];
    for (const text of seen) {
      await page.getByRole('link', { name: text }).click();
      await page.getByRole('heading', { level: 1 }).getByText(text).waitFor();
      await button(page.getByRole('main'), 'Payload', false).click();
      await page.locator('pre').getByText(HOSTILE.replaceAll('"', '\\"')).waitFor();
      expect(await fitsOnPhone(page)).toBe(true);
      await page.goBack();
    }
    await page.getByRole('link', { name: seen[2] ?? '' }).click();
    stage.broken.delete(odd);
    await page.getByRole('button', { name: /^Retry now: / }).click();
    await waitUntil('it is handled', () => stage.timesHandled(odd) === 1);

    await page.getByRole('link', { name: 'Dead letters', exact: true }).click();
    await page.getByRole('button', { name: /^Open the letter/ }).click();
    await page.getByText('The error in full').click();
    await page.locator('pre').getByText(`the carrier refuses ${parked}`).waitFor();
    await page.getByRole('button', { name: /^Show the payload/ }).click();
    await page.locator('.payload pre').getByText(HOSTILE.replaceAll('"', '\\"')).waitFor();
    expect(await fitsOnPhone(page)).toBe(true);
    expect(dialogs).toEqual([]);
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await opened.faults.all()).toEqual([]);
  });

  test('dead letters are filtered, chosen, retried and, after ten seconds in which it can be undone, discarded', async () => {
    await stage.park('dead-1', 'dead-2', 'dead-3', 'dead-4');
    await using opened = await openConsole(browser, url, '#/orders/letters', { clock: true });
    const { page } = opened;
    const changes = changesOf(page);
    const rows = page
      .getByRole('row')
      .filter({ has: page.getByRole('checkbox', { name: /^Choose the key/ }) });
    await page.getByLabel('A part of the error').fill('refuses dead-');
    await rows.nth(3).waitFor();
    await expect.poll(() => rows.count(), SOON).toBe(4);

    for (const key of ['dead-1', 'dead-2']) {
      stage.refused.delete(key);
      await page.getByLabel(`Choose the key ${key}`).check();
    }
    await button(page.getByRole('group'), 'Retry').click();
    await page.getByText('2 keys will run again, in order.').waitFor();
    await waitUntil('they are handled', () =>
      ['dead-1', 'dead-2'].every((key) => stage.timesHandled(key) === 1),
    );
    await expect.poll(() => rows.count(), SOON).toBe(2);

    const discard = async (key: string): Promise<void> => {
      await page.getByLabel(`Choose the key ${key}`).check();
      await button(page.getByRole('group'), 'Discard all letters').click();
      await button(dialog(page), 'Discard').click();
      await page.getByText(`All letters of ${key} are going to be discarded.`).waitFor();
    };
    changes.length = 0;
    await discard('dead-3');
    await page.clock.fastForward(8_000);
    await button(page, 'Undo').click();
    await page.clock.fastForward(8_000);
    await page.getByText('live', { exact: true }).waitFor();
    expect(changes).toEqual([]);
    expect(await stage.letters('dead-3')).toBe(1);
    await page.getByLabel('Choose the key dead-3').uncheck();
    await discard('dead-3');
    await page.clock.fastForward(10_000);
    await page.getByText('1 key went on without their letters.').waitFor();
    expect(changes).toEqual(['letters/discard']);
    expect(await stage.letters('dead-3')).toBe(0);

    await discard('dead-4');
    const asked = page.waitForEvent('dialog');
    void page.close({ runBeforeUnload: true });
    const question = await asked;
    expect(question.type()).toBe('beforeunload');
    const closed = page.waitForEvent('close');
    await question.accept();
    await closed;
    expect(changes).toEqual(['letters/discard']);
    expect(await stage.letters('dead-4')).toBe(1);
    expect(await opened.faults.all()).toEqual([]);
  });
});

/** What the page asks the process to change, as it asks. */
function changesOf(page: Page): string[] {
  const changes: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') changes.push(request.url().replace(/.*\/pipelines\/orders\//, ''));
  });
  return changes;
}
