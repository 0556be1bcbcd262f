import type { CommitOrder } from './commit-order.js';
import type { Findings } from './findings.js';
import type { JudgeOptions } from './judgement.js';
import type { Lives } from './lives.js';

/** What the judges of all keys share, and the key of this one. */
export interface Room {
  readonly key: string;
  readonly order: CommitOrder;
  readonly lives: Lives;
  readonly findings: Findings;
  readonly options: JudgeOptions;
}
