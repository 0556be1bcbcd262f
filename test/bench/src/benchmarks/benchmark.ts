import type { Findings } from '../report/figure.js';
import type { Stage } from './stage.js';

export interface Benchmark {
  /** What it measures, in a line of --help. */
  readonly about: string;
  /** About how long it takes with the defaults, on two cores. */
  readonly minutes: number;
  run(stage: Stage): Promise<Findings>;
}
