import { cut } from '@strandline/core';
import type { PruneFigures } from '../prune/figures.js';
import type { InstanceDetails } from './instance-details.js';
import { NAMED } from './notable-keys.js';
import { LONGEST_ID, LONGEST_KEY, LONGEST_WHY } from './short-text.js';

/** What a report tells of a pruner: texts cut, and ten at most of those who hold it up. */
export function pruningOf(figures: PruneFigures): InstanceDetails['prune'] {
  const { outbox, state, rowsDeleted, partitionsDropped, candidates, oldest, heldBack, paused } = figures;
  return {
    ...{ state, rowsDeleted, partitionsDropped, candidates, oldest, finishedAt: figures.finishedAt },
    outbox: outbox === null ? null : cut(outbox, LONGEST_ID),
    heldBack: heldBack.slice(0, NAMED).map(({ who, why }) => ({
      ...{ who: cut(who, LONGEST_KEY), why: cut(why, LONGEST_WHY) },
    })),
    paused: paused === null ? null : cut(paused.why, LONGEST_WHY),
    error:
      figures.error === null
        ? null
        : { code: figures.error.code, message: cut(figures.error.message, LONGEST_WHY) },
  };
}
