import type { Locator, Page } from 'playwright-core';
import type { TestBrowser, TestPage, TestPageOptions } from '@strandline/test-kit';

/** What an operator waits at most before they see what is wrong. */
export const SOON = { timeout: 10_000 };

const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 720 };

export interface ConsoleOptions extends Omit<TestPageOptions, 'origin'> {
  /** The page's time can be moved on. */
  readonly clock?: boolean;
}

/** Opens the console of a process in a window of its own. */
export async function openConsole(
  browser: TestBrowser,
  origin: string,
  hash = '',
  { clock = false, ...options }: ConsoleOptions = {},
): Promise<TestPage> {
  const opened = await browser.open({ origin, ...options });
  if (clock) await opened.page.clock.install();
  await opened.page.goto(`/${hash}`);
  return opened;
}

export function heading(page: Page, name: string): Locator {
  return page.getByRole('heading', { level: 1, name });
}

export function button(within: Page | Locator, name: string, exact = true): Locator {
  return within.getByRole('button', { name, exact });
}

export function panel(page: Page, name: string): Locator {
  return page.getByRole('region', { name, exact: true });
}

export function dialog(page: Page): Locator {
  return page.getByRole('dialog');
}

/** Whether the page is as narrow as a phone where it can be: nothing has to be moved sideways to be read. */
export async function fitsOnPhone(page: Page): Promise<boolean> {
  await page.setViewportSize(PHONE);
  const fits = await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth');
  await page.setViewportSize(DESK);
  return fits;
}
