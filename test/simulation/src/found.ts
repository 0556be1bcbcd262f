import type { Scenario } from './scenario.js';

/** A schedule that broke a promise once, of the product or of a mutant that few seeds find, made as small as it would go. */
export interface FoundScenario {
  /** What went wrong. */
  readonly name: string;
  readonly scenario: Scenario;
}

const temper = { fails: 0, permanently: 0, answersAtOnce: 0, hangs: 0, longest: 2 };
const options = {
  hasLetters: true,
  batch: 1,
  window: 1_000,
  maxPerKey: Infinity,
  overflow: 'park',
  onFailure: 'park',
  schedule: false,
  initialDelay: 0,
  handlerTimeout: Infinity,
  commitInterval: 15,
} as const;

/** Played in each run. Seeds say nothing any more when the drawing of scenarios changes; these stay what they are. */
export const found: readonly FoundScenario[] = [
  {
    name: 'a suspect was called after doubt had come up, while it was being noted',
    scenario: {
      seed: 2947,
      keys: ['a', 'b', 'c'],
      crew: 1,
      commits: [
        { at: 26, keys: ['b', 'b'] },
        { at: 65, keys: ['a'] },
      ],
      ownership: 'slot',
      ownEnd: false,
      temper: { ...temper, permanently: 0.5, answersAtOnce: 0.3 },
      poison: 0,
      options: {
        ...options,
        concurrency: 4,
        batch: 2,
        window: 3,
        attempts: 2,
        initialDelay: 10,
        jitter: 'full',
        handlerTimeout: 15,
      },
      faults: [{ at: 217, kind: 'cut', member: 0, lasts: 5 }],
    },
  },
  {
    name: 'released keys that only waited for an idle log kept the places of other released keys for ever',
    scenario: {
      seed: 102529,
      keys: ['a', 'b', 'c', 'd'],
      crew: 1,
      commits: [['c', 'c'], ['c'], ['c', 'c'], ['c'], ['c', 'd'], ['b'], []].map((keys) => ({ at: 0, keys })),
      ownership: 'slot',
      ownEnd: true,
      temper: { ...temper, fails: 0.4, longest: 20 },
      poison: null,
      options: { ...options, concurrency: 2, window: 12, attempts: 1, jitter: 'none' },
      faults: [{ at: 239, kind: 'kill', member: 0 }],
    },
  },
  {
    name: 'a process that stood still called handlers before it knew that its place was taken',
    scenario: {
      seed: 1,
      keys: ['a', 'b'],
      crew: 2,
      commits: Array.from({ length: 12 }, (_, index) => ({ at: 20, keys: [index % 2 === 0 ? 'a' : 'b'] })),
      ownership: 'slot',
      ownEnd: true,
      temper: { ...temper, longest: 20 },
      poison: null,
      options: {
        ...options,
        hasLetters: false,
        overflow: 'pause',
        onFailure: 'halt',
        concurrency: 2,
        attempts: 5,
        jitter: 'none',
      },
      faults: [
        { at: 50, kind: 'pause', member: 0, lasts: 3_000 },
        { at: 50, kind: 'pause', member: 1, lasts: 1 },
      ],
    },
  },
  {
    name: 'a key whose letters were handled is live again only when the log has brought them',
    scenario: {
      seed: 107548,
      keys: ['a', 'b'],
      crew: 1,
      commits: [['b', 'b', 'b'], ['a'], ['b'], ['b']].map((keys) => ({ at: 0, keys })),
      ownership: 'slot',
      ownEnd: false,
      temper,
      poison: null,
      options: {
        ...options,
        concurrency: 2,
        batch: 2,
        maxPerKey: 2,
        attempts: Infinity,
        initialDelay: 10,
        jitter: 'none',
        commitInterval: 20,
      },
      faults: [{ at: 174, kind: 'cut', member: 0, lasts: 500 }],
    },
  },
  {
    name: 'a head that had failed waited for the log to come to its letters, and the log for room in the window',
    scenario: {
      seed: 1506153,
      keys: ['a'],
      crew: 2,
      commits: [
        { at: 22, keys: ['a', 'a'] },
        { at: 39, keys: ['a', 'a', 'a'] },
      ],
      ownership: 'slot',
      ownEnd: false,
      temper: { ...temper, fails: 0.4, permanently: 0.1, longest: 60 },
      poison: null,
      options: {
        ...options,
        overflow: 'pause',
        concurrency: 2,
        window: 3,
        schedule: true,
        attempts: 1,
        initialDelay: 10,
        jitter: 'none',
        commitInterval: 20,
      },
      faults: [
        { at: 67, kind: 'offsets away', lasts: 10 },
        { at: 171, kind: 'kill', member: 1 },
        { at: 227, kind: 'pause', member: 0, lasts: 50 },
      ],
    },
  },
];
