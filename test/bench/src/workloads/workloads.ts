import type { Variant, Workload, WorkloadLog } from './workload.js';

/** Every workload but this one has one thing about it that is different. */
const BASE: WorkloadLog = { share: 1, perTransaction: 10, payload: 'text', payloadBytes: 200, keys: 5_000 };
const HALF: WorkloadLog = { ...BASE, share: 0.5 };
/** Those that goals are for: long enough that what a process needs to warm up is the smaller part. */
const LONG: WorkloadLog = { ...BASE, share: 5 };

const ASYNC: Variant = { label: 'async handler', settings: {} };

const waiting = (label: string, mean: number, jitter: number, concurrency: number): Variant => ({
  label,
  settings: { handler: 'waiting', wait: { mean, jitter }, concurrency },
});

/** By the size of transactions and of payloads. */
export const DRAINS: readonly Workload[] = [
  {
    name: 'tens',
    title: '10 rows a transaction',
    log: LONG,
    variants: [
      ASYNC,
      { label: 'sync handler', settings: { handler: 'plain' } },
      { label: 'batch handler', settings: { handler: 'batch' } },
    ],
    peers: ['bare', 'server'],
    goals: { bare: 'tensOfBare', server: 'tensOfServer' },
  },
  {
    name: 'ones',
    title: '1 row a transaction',
    log: { ...BASE, share: 2, perTransaction: 1 },
    variants: [ASYNC],
    peers: ['bare', 'server'],
    goals: { bare: 'onesOfBare' },
  },
  {
    name: 'thousands',
    title: '1,000 rows a transaction',
    log: { ...BASE, share: 2, perTransaction: 1_000 },
    variants: [ASYNC],
    peers: ['bare', 'server'],
  },
  {
    name: 'payload_2k',
    title: 'payloads of 2 kB',
    log: { ...BASE, share: 0.25, payloadBytes: 2_000 },
    variants: [ASYNC],
    peers: ['bare', 'server'],
  },
  {
    name: 'payload_100k',
    title: 'payloads of 100 kB',
    log: { ...BASE, share: 0.01, payloadBytes: 100_000 },
    variants: [ASYNC],
    peers: ['bare', 'server'],
  },
  {
    name: 'json',
    title: 'payloads of the JSON type',
    log: { ...HALF, payload: 'json' },
    variants: [ASYNC, { label: 'handler reads the payload', settings: { handler: 'payload' } }],
    peers: ['bare'],
  },
];

/** By who listens. The first variant is what the others are compared with. */
export const OBSERVED: Workload = {
  name: 'observed',
  title: 'observed',
  log: LONG,
  variants: [
    { label: 'no listener', settings: {} },
    { label: 'metrics', settings: { observed: 'metrics' } },
    { label: 'context manager alone', settings: { observed: 'context' } },
    { label: 'traces of 1 %', settings: { observed: 'traces' } },
  ],
  peers: [],
};

/** By how many keys there are. */
export const KEYS: readonly Workload[] = [
  { name: 'keys_5000', title: '5,000 keys', log: BASE, variants: [ASYNC], peers: ['bare'] },
  {
    name: 'keys_1',
    title: '1 key',
    log: { ...HALF, keys: 1 },
    variants: [ASYNC],
    peers: ['bare'],
    against: 'keys_5000',
  },
  {
    name: 'keys_100',
    title: '100 keys',
    log: { ...HALF, keys: 100 },
    variants: [ASYNC],
    peers: ['bare'],
    against: 'keys_5000',
  },
  {
    name: 'keys_zipf',
    title: '5,000 keys, zipf',
    log: { ...HALF, skew: 'zipf' },
    variants: [ASYNC],
    peers: ['bare'],
    against: 'keys_5000',
  },
  {
    name: 'keys_1000000',
    title: '1,000,000 keys',
    log: { ...BASE, keys: 1_000_000 },
    variants: [ASYNC],
    peers: ['bare'],
    against: 'keys_5000',
    goals: { against: 'manyKeys' },
  },
];

/** By what handlers do. */
export const HANDLERS: readonly Workload[] = [
  {
    name: 'wait_10_wide',
    title: '10 ms handlers, concurrency 512',
    log: HALF,
    variants: [waiting('10 ms', 10, 0, 512)],
    peers: ['waits'],
    goals: { waits: 'concurrency' },
  },
  {
    name: 'wait_10_jitter',
    title: '5 to 15 ms handlers, concurrency 32',
    log: { ...BASE, share: 0.025 },
    variants: [waiting('5 to 15 ms', 10, 5, 32)],
    peers: ['waits'],
  },
  {
    name: 'wait_1',
    title: '1 ms handlers, concurrency 32',
    log: { ...BASE, share: 0.25 },
    variants: [waiting('1 ms', 1, 0, 32)],
    peers: ['waits'],
  },
];

export const WORKLOAD_NAMES: readonly string[] = [...DRAINS, ...KEYS, ...HANDLERS].map(({ name }) => name);
