import { setTimeout as sleep } from 'node:timers/promises';
import { createLogUpdate } from 'log-update';
import { written, type Output } from '../streams.js';
import type { StatusReport } from './report.js';

/** Milliseconds between looks. */
const EVERY = 1_000;

/** Where the answers of `--watch` go. */
export interface Board {
  show(text: string, reports: readonly StatusReport[]): Promise<void>;
  /** What was drawn last stays. */
  done(): void;
}

/** On a terminal one answer in place of the last one; elsewhere, one below the other whenever something has changed. */
export function createBoard(output: Output, redraws: boolean): Board {
  return redraws ? redrawnBoard(output) : lineBoard(output);
}

function redrawnBoard(output: Output): Board {
  // What is a terminal has the rest of one, too.
  const redraw = createLogUpdate(output as unknown as NodeJS.WriteStream);
  return {
    show(text) {
      redraw(firstLines(text, output.rows ?? Infinity));
      return Promise.resolve();
    },
    done: () => {
      redraw.done();
    },
  };
}

/** As many as the terminal shows: of more it would show the last ones, and who runs a pipeline is in the first. */
function firstLines(text: string, rows: number): string {
  const lines = text.trimEnd().split('\n');
  return lines.length < rows ? lines.join('\n') : [...lines.slice(0, Math.max(1, rows - 2)), '…'].join('\n');
}

function lineBoard(output: Output): Board {
  let last = '';
  return {
    async show(text, reports) {
      const now = JSON.stringify(reports.map(withoutTime));
      if (now === last) return;
      last = now;
      await written(output, text);
    },
    done: () => undefined,
  };
}

/** What is something else without anything having happened: ages, and rates. */
const PASSING = new Set(['at', 'age', 'seconds', 'watermarkAge', 'nextTryIn', 'rates', 'problems']);

function withoutTime(report: StatusReport): unknown {
  return JSON.parse(
    JSON.stringify(report, (name, value: unknown) => (PASSING.has(name) ? undefined : value)),
  );
}

/** Looks again and again until the signal; resolves with the last answer. */
export async function watch<T>(look: () => Promise<T>, stop: AbortSignal): Promise<T> {
  for (;;) {
    const startedAt = performance.now();
    const answer = await look();
    const rest = Math.max(0, EVERY - (performance.now() - startedAt));
    await sleep(rest, undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return answer;
  }
}
