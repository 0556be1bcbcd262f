import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/** One element that one rule objects to. */
export interface AxeViolation {
  /** The rule's id, as in `color-contrast`. */
  readonly rule: string;
  /** `minor`, `moderate`, `serious` or `critical`. */
  readonly impact: string;
  /** The element; through shadow roots and all, from the outermost in. */
  readonly selector: string;
  /** What to put right. */
  readonly problem: string;
}

/** WCAG 2.0, 2.1 and 2.2 at the levels A and AA (2.2 has nothing new at A that a program can check), and best practices. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The slice of axe's results that is used. */
interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly {
      readonly impact: string | null;
      readonly target: readonly (string | readonly string[])[];
      readonly failureSummary?: string;
    }[];
  }[];
}

/**
 * What axe finds wrong with the page as it is now; of frames it looks at none.
 *
 * axe runs in a world of its own, as the browser's extensions do: the page's policy does not bar it, and the page sees nothing
 * of it. It loads nothing.
 */
export async function axeViolations(page: Page): Promise<AxeViolation[]> {
  const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const options = {
    runOnly: { type: 'tag', values: TAGS },
    resultTypes: ['violations'],
    iframes: false,
    preload: false,
  };
  const run = `${source};\naxe.run(document, ${JSON.stringify(options)})`;
  const { violations } = (await evaluateApart(page, run)) as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ impact, target, failureSummary = '' }) => ({
      rule: id,
      impact: impact ?? 'unknown',
      selector: target.flat().join(' '),
      problem: failureSummary.replaceAll(/\s*\n\s*/g, ' '),
    })),
  );
}

async function evaluateApart(page: Page, expression: string): Promise<unknown> {
  const session = await page.context().newCDPSession(page);
  try {
    const { frameTree } = await session.send('Page.getFrameTree');
    const world = { frameId: frameTree.frame.id, worldName: 'axe' };
    const { executionContextId } = await session.send('Page.createIsolatedWorld', world);
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      contextId: executionContextId,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails === undefined) return result.value;
    throw new Error(`axe failed: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
  } finally {
    await session.detach();
  }
}
