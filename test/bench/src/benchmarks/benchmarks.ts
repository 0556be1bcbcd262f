import { DRAINS, HANDLERS, KEYS } from '../workloads/workloads.js';
import type { Benchmark } from './benchmark.js';
import { draining } from './drain.js';
import { isolation } from './isolation.js';
import { latency } from './latency.js';
import { memory } from './memory.js';
import { observed } from './observed.js';
import { peers } from './peers.js';
import { promises } from './promises.js';
import { recovery } from './recovery.js';
import { release } from './release.js';

/** All that a run does, in this order. */
export const BENCHMARKS = {
  drain: {
    about: 'a backlog, by the size of transactions and payloads, beside the bare library and the server',
    minutes: 4,
    run: draining('drain', DRAINS),
  },
  keys: {
    about: 'a backlog of 1, 100, 5,000 and 1,000,000 keys, and of unequal ones',
    minutes: 2,
    run: draining('keys', KEYS),
  },
  handlers: {
    about: 'a backlog whose handlers take 1 and 10 ms, beside the waits alone',
    minutes: 1,
    run: draining('handlers', HANDLERS),
  },
  latency: {
    about: 'commit to handler at 500 and 5,000 rows/s, and the highest rate with p99 below 50 ms',
    minutes: 3,
    run: latency,
  },
  isolation: {
    about: 'what a stuck key, 1,000 keys in backoff and 10 parked keys cost the others',
    minutes: 2,
    run: isolation,
  },
  observed: {
    about: 'what metrics and traces of 1 % cost',
    minutes: 2,
    run: observed,
  },
  memory: {
    about: 'the resident set over a long backlog, one large transaction, and many live keys',
    minutes: 3,
    run: memory,
  },
  recovery: {
    about: 'SIGKILL under live load and at full rate: the time until work goes on, and duplicates',
    minutes: 1,
    run: recovery,
  },
  release: {
    about: 'one key, parked with many followers and released',
    minutes: 1,
    run: release,
  },
  peers: {
    about: 'the same backlog by what one could have taken instead (Postgres)',
    minutes: 8,
    run: peers,
  },
  promises: {
    about:
      'order and completeness of each of them: killed in a backlog, late commits under live load (Postgres)',
    minutes: 8,
    run: promises,
  },
} as const satisfies Record<string, Benchmark>;

export type BenchmarkName = keyof typeof BENCHMARKS;

export const BENCHMARK_NAMES = Object.keys(BENCHMARKS) as readonly BenchmarkName[];
