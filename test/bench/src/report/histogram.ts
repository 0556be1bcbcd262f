import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

const NANOSECONDS = 1e6;
/** Anything slower counts as this. */
const HIGHEST = 10 * 60 * 1_000 * NANOSECONDS;

/** What the tail of many times looks like, in milliseconds. */
export interface Tail {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** An HDR histogram of milliseconds: Node's own, which keeps three significant digits from a nanosecond to ten minutes. */
export class LatencyHistogram {
  readonly #histogram: RecordableHistogram = createHistogram({ lowest: 1, highest: HIGHEST, figures: 3 });

  /** What is less than nothing, since two processes saw the two ends of it, counts as nothing. */
  record(milliseconds: number): void {
    this.#histogram.record(Math.min(HIGHEST, Math.max(1, Math.round(milliseconds * NANOSECONDS))));
  }

  /** The exact maximum; the rest to within a thousandth. */
  tail(): Tail {
    const at = (percent: number): number => this.#histogram.percentile(percent) / NANOSECONDS;
    return { p50: at(50), p99: at(99), p999: at(99.9), max: this.#histogram.max / NANOSECONDS };
  }
}

export function tailOf(times: Iterable<number>): Tail {
  const histogram = new LatencyHistogram();
  for (const time of times) histogram.record(time);
  return histogram.tail();
}
