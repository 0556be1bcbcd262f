import type { Strand, StrandState } from '@strandline/core';
import { pipelineError } from '../errors.js';
import type { Run } from '../run.js';
import { momentOf, viewOf, type StrandView } from './strand-view.js';

/** Strands that are looked at without a turn of the event loop for others: about a millisecond. */
const CHUNK = 4_096;
const DEFAULT_LIMIT = 50;
const MOST = 1_000;

const SORTS = ['age', 'depth', 'slowest', 'failing'] as const;

/**
 * What comes first: `age` the oldest head by its commit, `depth` most events, `slowest` the turn that runs longest
 * (only keys whose handlers run), `failing` the head that has been failing for longest (only those that have failed).
 */
export type StrandSort = (typeof SORTS)[number];

export interface StrandQuery {
  readonly state?: StrandState;
  /** Default `age`. */
  readonly sort?: StrandSort;
  /** A part of the key. */
  readonly search?: string;
  /** Default 50, at most 1,000. */
  readonly limit?: number;
  /** `next` of the page before. Keys move meanwhile: one may be seen twice, or only by a new look. */
  readonly after?: string;
}

export interface StrandList {
  readonly strands: readonly StrandView[];
  /** What `after` is for the next page; null when there is none. */
  readonly next: string | null;
  /** Live keys at the time, and those of them that were looked at. */
  readonly live: number;
  readonly looked: number;
}

/** How far in front a strand comes: the heavier the earlier, and of equal ones by the key. NaN: not at all. */
type Weigh = (strand: Strand) => number;

interface Place {
  readonly weight: number;
  readonly key: string;
}

interface Candidate extends Place {
  readonly strand: Strand;
}

/**
 * Looks through the live strands, however many there are, a chunk at a time: what changes meanwhile may be seen before or
 * after. Throws `PIPELINE_CONTROL` for a query that can't be.
 */
export async function listStrands(run: Run, query: StrandQuery): Promise<StrandList> {
  const { sort = 'age', limit = DEFAULT_LIMIT, state, search, after } = query;
  mustBe('sort', sort, SORTS.includes(sort), SORTS.join(', '));
  mustBe('limit', limit, Number.isInteger(limit) && limit >= 1 && limit <= MOST, `1 to ${String(MOST)}`);
  const from = after === undefined ? null : placeOf(after);
  const weigh = weighing(run, sort);
  const page = new Page(limit + 1, from);
  const strands = sort === 'slowest' ? runningOf(run) : run.executor.strands();
  const live = run.executor.counts().strands;
  let looked = 0;
  for (const strand of strands) {
    // Keys come to live while others are looked at: without an end one could run after them for ever.
    if (looked >= live) break;
    looked += 1;
    if (
      (state === undefined || strand.state === state) &&
      (search === undefined || strand.key.includes(search))
    )
      page.offer(strand, weigh(strand));
    if (looked % CHUNK === 0) await turn();
  }
  // What was settled meanwhile is gone.
  const found = page.candidates.filter(({ strand }) => run.executor.strandOf(strand.key) === strand);
  const shown = found.slice(0, limit);
  const last = page.candidates.length > limit ? shown.at(-1) : undefined;
  const moment = momentOf(
    run,
    shown.map(({ strand }) => strand),
  );
  return {
    strands: shown.map(({ strand }) => viewOf(strand, moment)),
    next: last === undefined ? null : JSON.stringify([last.weight, last.key]),
    live,
    looked,
  };
}

/** The heaviest few behind a place. */
class Page {
  readonly #most: number;
  readonly #from: Place | null;
  readonly #candidates: Candidate[] = [];

  constructor(most: number, from: Place | null) {
    this.#most = most;
    this.#from = from;
  }

  /** The first ones first. */
  get candidates(): readonly Candidate[] {
    return this.#candidates;
  }

  offer(strand: Strand, weight: number): void {
    if (Number.isNaN(weight)) return;
    const candidates = this.#candidates;
    const last = candidates.at(-1);
    const { key } = strand;
    if (candidates.length === this.#most && last !== undefined && isBefore(last, weight, key)) return;
    if (this.#from !== null && !isBefore(this.#from, weight, key)) return;
    let low = 0;
    for (let high = candidates.length; low < high;) {
      const middle = (low + high) >> 1;
      const other = candidates[middle];
      if (other !== undefined && isBefore(other, weight, key)) low = middle + 1;
      else high = middle;
    }
    candidates.splice(low, 0, { strand, weight, key });
    if (candidates.length > this.#most) candidates.pop();
  }
}

function isBefore(place: Place, weight: number, key: string): boolean {
  return place.weight === weight ? place.key < key : place.weight > weight;
}

function weighing(run: Run, sort: StrandSort): Weigh {
  switch (sort) {
    case 'depth':
      return ({ length }) => length;
    case 'failing':
      return ({ firstFailedAt }) => -firstFailedAt;
    case 'age':
      return ({ head }) => -Date.parse(head.event.transaction.commitTime);
    case 'slowest': {
      const startedAt = new Map([...run.turns()].map(({ strand, startedAt }) => [strand, startedAt]));
      return (strand) => -(startedAt.get(strand) ?? NaN);
    }
  }
}

function* runningOf(run: Run): Generator<Strand> {
  for (const { strand } of [...run.turns()]) yield strand;
}

function placeOf(text: string): Place {
  try {
    const [weight, key] = JSON.parse(text) as readonly unknown[];
    if (typeof weight === 'number' && typeof key === 'string') return { weight, key };
  } catch {
    // Told below.
  }
  throw wrongQuery('after', text.slice(0, 100), '`next` of the page before');
}

function mustBe(field: string, found: unknown, holds: boolean, rule: string): void {
  if (!holds) throw wrongQuery(field, found, rule);
}

function wrongQuery(field: string, found: unknown, rule: string): Error {
  return pipelineError(
    'PIPELINE_CONTROL',
    `strands: \`${field}\` must be ${rule} (it is ${JSON.stringify(found)}).`,
    'Correct it.',
  );
}

/** A turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
