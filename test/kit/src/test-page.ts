import type { Browser, BrowserContext, Page } from 'playwright-core';
import { PageFaults } from './page-faults.js';

export interface TestPageOptions {
  /** Of what is tested, as in `http://127.0.0.1:8080`: `page.goto('/keys')` is below it, and a request elsewhere is a fault. */
  readonly origin: string;
  /** Default `light`. */
  readonly colorScheme?: 'light' | 'dark';
  /** Default `no-preference`. */
  readonly reducedMotion?: 'reduce' | 'no-preference';
  /** In CSS pixels; default 1280 by 720. */
  readonly viewport?: { readonly width: number; readonly height: number };
}

/** A page in a window of its own, and what goes wrong in it. */
export class TestPage implements AsyncDisposable {
  /** Playwright's. */
  readonly page: Page;
  /** Of this page, and of those that it opens. */
  readonly faults: PageFaults;
  readonly #context: BrowserContext;

  static async open(browser: Browser, options: TestPageOptions): Promise<TestPage> {
    const { origin, colorScheme = 'light', reducedMotion = 'no-preference', viewport } = options;
    const context = await browser.newContext({
      baseURL: origin,
      colorScheme,
      reducedMotion,
      viewport: { width: 1280, height: 720, ...viewport },
      locale: 'en-US',
      timezoneId: 'UTC',
    });
    const faults = new PageFaults(context, origin);
    return new TestPage(context, await context.newPage(), faults);
  }

  private constructor(context: BrowserContext, page: Page, faults: PageFaults) {
    this.#context = context;
    this.page = page;
    this.faults = faults;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}
