import { Ansis } from 'ansis';
import { createLogUpdate } from 'log-update';
import { blockOf, lineOf } from './view-text.js';
import type { Progress } from './progress.js';

/** Where a person watches the demo. */
export interface View {
  /** A line that stays. */
  say(text: string): void;
  /** Shows how things stand now, in place of what was shown before where that is possible. */
  show(progress: Progress): void;
  /** How often `show` should be called, in milliseconds. */
  readonly everyMs: number;
  /** Colours that suit where it writes. */
  readonly ink: Ansis;
}

/** With JSON wanted, stdout belongs to the one line at the end, and whoever watches does so on stderr. */
export function createView(json: boolean): View {
  const stream = json ? process.stderr : process.stdout;
  return stream.isTTY ? redrawnView(stream) : lineView(stream);
}

function redrawnView(stream: NodeJS.WriteStream): View {
  const ink = new Ansis();
  const redraw = createLogUpdate(stream, { showCursor: true });
  return {
    everyMs: 100,
    ink,
    say: (text) => {
      redraw.persist(text);
    },
    show(progress) {
      redraw(blockOf(progress, ink));
      if (progress.phase === 'done') redraw.done();
    },
  };
}

function lineView(stream: NodeJS.WritableStream): View {
  return {
    everyMs: 1000,
    // 0: no colours; the lines go to a file, a pipe or a build log.
    ink: new Ansis(0),
    say: (text) => stream.write(`${text}\n`),
    show: (progress) => stream.write(`${lineOf(progress)}\n`),
  };
}
