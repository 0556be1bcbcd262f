import type { ReplayStatus } from '@strandline/pipeline';
import type { Output } from '../streams.js';
import { amount } from '../text.js';

/** Milliseconds between updates of the line on a terminal, and between lines elsewhere. */
const ON_TERMINAL = 250;
const ELSEWHERE = 5_000;
/** Columns, where the terminal does not tell. */
const NARROW = 80;
const CLEAR_LINE = '\r\u001b[K';

/** Tells how far a replay is until it is ended: one line that changes on a terminal, a line now and then elsewhere. */
export class ProgressLine {
  readonly #look: () => ReplayStatus;
  readonly #stderr: Output;
  readonly #timer: NodeJS.Timeout;

  constructor(look: () => ReplayStatus, stderr: Output) {
    this.#look = look;
    this.#stderr = stderr;
    this.#timer = setInterval(
      () => {
        this.#tell();
      },
      this.#isTerminal ? ON_TERMINAL : ELSEWHERE,
    );
    if (this.#isTerminal) this.#tell();
  }

  end(): void {
    clearInterval(this.#timer);
    if (this.#isTerminal) this.#stderr.write(CLEAR_LINE);
  }

  get #isTerminal(): boolean {
    return this.#stderr.isTTY === true;
  }

  #tell(): void {
    const line = progressText(this.#look());
    // A line that is wider than the terminal would not be overwritten whole.
    const width = (this.#stderr.columns ?? NARROW) - 1;
    this.#stderr.write(this.#isTerminal ? `${CLEAR_LINE}${line.slice(0, width)}` : `${line}\n`);
  }
}

/** Writes a line where the line of the progress may be. */
export function tellBeside(text: string, stderr: Output): void {
  stderr.write(`${stderr.isTTY === true ? CLEAR_LINE : ''}${text}\n`);
}

/** `orders-replay: 1200 events, 43 %, 310 events/s, 12 s left` */
export function progressText({ name, events, progress, rate, remaining }: ReplayStatus): string {
  const parts = [
    amount(events, 'event'),
    ...(progress === null ? [] : [`${String(Math.floor(progress * 100))} %`]),
    rateText(rate),
    ...(remaining === null ? [] : [`${timeText(remaining)} left`]),
  ];
  return `${name}: ${parts.join(', ')}`;
}

export function rateText(rate: number): string {
  return `${rate < 10 ? rate.toFixed(1) : String(Math.round(rate))} events/s`;
}

/** `850 ms`, `12 s`, `3 min 20 s`, `2 h 5 min` */
export function timeText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${String(Math.round(milliseconds))} ms`;
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 60) return `${String(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${String(minutes)} min ${String(seconds % 60)} s`;
  return `${String(Math.floor(minutes / 60))} h ${String(minutes % 60)} min`;
}
