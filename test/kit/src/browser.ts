import { startBrowser } from '@strandline/servers';
import { TestPage, type TestPageOptions } from './test-page.js';

/** A Chromium that shows pages to tests. */
export interface TestBrowser extends AsyncDisposable {
  /** A page with cookies, storage and cache of its own, as in a new private window. */
  open(options: TestPageOptions): Promise<TestPage>;
}

/**
 * `await using browser = await testBrowser()`, or once for a file: a start takes a second, a page a tenth of one. The
 * browser reaches this machine alone. It ends with its pages, and with this process, whatever ends that.
 */
export async function testBrowser(): Promise<TestBrowser> {
  // Few tests need it, and it is large.
  const { chromium } = await import('playwright-core');
  const running = await startBrowser();
  try {
    const browser = await chromium.connectOverCDP(running.url, { artifactsDir: running.artifacts });
    return {
      open: (options) => TestPage.open(browser, options),
      async [Symbol.asyncDispose]() {
        try {
          await browser.close();
        } finally {
          await running[Symbol.asyncDispose]();
        }
      },
    };
  } catch (error) {
    await running[Symbol.asyncDispose]();
    throw error;
  }
}
