import type { BrowserContext, ConsoleMessage, Page, Request } from 'playwright-core';

/**
 * What goes wrong in the pages of a context. Each fault is listed once, in the list of its kind, in the order of time.
 */
export class PageFaults {
  /** What the page has said with `console.error` or `console.assert`, and what the browser has to complain of it. */
  readonly consoleErrors: string[] = [];
  /** Errors that nobody caught, and rejections that nobody handled, with their stack. */
  readonly pageErrors: string[] = [];
  /** What got no answer, or one from 400 on. What the page itself has given up is no failure. */
  readonly failedRequests: string[] = [];
  /** What the page asked of another origin than its own, whether or not it was allowed to and got an answer; WebSockets too. */
  readonly foreignRequests: string[] = [];
  /** What the page's Content-Security-Policy forbids, in the words of the browser; what it would only report, too. */
  readonly cspViolations: string[] = [];
  readonly #context: BrowserContext;
  readonly #origin: string;

  constructor(context: BrowserContext, origin: string) {
    this.#context = context;
    this.#origin = new URL(origin).origin;
    context.on('page', (page) => {
      this.#watch(page);
    });
    context.on('console', (message) => {
      this.#heard(message);
    });
    context.on('weberror', (error) => {
      this.pageErrors.push(error.error().stack ?? String(error.error()));
    });
    context.on('request', (request) => {
      this.#asked(request.method(), request.url());
    });
    context.on('response', (response) => {
      if (response.status() >= 400) this.#failed(response.request(), String(response.status()));
    });
    context.on('requestfailed', (request) => {
      const reason = request.failure()?.errorText ?? 'unknown';
      // The policy's refusals are listed as such.
      if (reason !== 'csp' && reason !== 'net::ERR_ABORTED') this.#failed(request, reason);
    });
  }

  /** All of them, each with its kind before it, once what the pages have reported by now has arrived. */
  async all(): Promise<string[]> {
    // An answer comes after what was reported before it.
    await Promise.all(this.#context.pages().map((page) => page.evaluate('0').catch(() => undefined)));
    const kinds = {
      'console error': this.consoleErrors,
      'page error': this.pageErrors,
      'failed request': this.failedRequests,
      'foreign request': this.foreignRequests,
      'CSP violation': this.cspViolations,
    };
    return Object.entries(kinds).flatMap(([kind, faults]) => faults.map((fault) => `${kind}: ${fault}`));
  }

  /** Forgets what was so far: for what a test has provoked. */
  clear(): void {
    const { consoleErrors, pageErrors, failedRequests, foreignRequests, cspViolations } = this;
    for (const list of [consoleErrors, pageErrors, failedRequests, foreignRequests, cspViolations])
      list.length = 0;
  }

  #watch(page: Page): void {
    page.on('websocket', (socket) => {
      this.#asked('WebSocket', socket.url());
    });
  }

  #heard(message: ConsoleMessage): void {
    const text = message.text();
    if (/violate[sd]? .*Content Security Policy/s.test(text)) this.cspViolations.push(text);
    else if (!['error', 'assert'].includes(message.type())) return;
    // Which one, and why, is among the failed requests.
    else if (!text.startsWith('Failed to load resource')) this.consoleErrors.push(text);
  }

  #asked(method: string, address: string): void {
    const { protocol, origin } = new URL(address.replace(/^ws/, 'http'));
    if (/^https?:$/.test(protocol) && origin !== this.#origin)
      this.foreignRequests.push(`${method} ${address}`);
  }

  #failed(request: Request, why: string): void {
    this.failedRequests.push(`${request.method()} ${request.url()}: ${why}`);
  }
}
