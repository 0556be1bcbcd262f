import {
  Executor,
  type BookmarkStore,
  NO_CONTROLS,
  type CommitResult,
  type Controls,
  type ControlStore,
  type InstanceRegister,
  type InstanceReport,
  type Logger,
  type Offset,
  type OffsetStore,
  type OutboxEvent,
  type RetryPolicy,
  type ReplacedOffset,
  type Source,
} from '@strandline/core';
import { expect } from 'vitest';
import { parsePipelineOptions, type PipelineConfig, type PipelineOptions } from '../src/config.js';

/** The n-th position of a made-up log: as text it sorts wrongly (`p10` before `p9`). */
export function position(n: number): string {
  return `p${String(n)}`;
}

export function compare(a: string, b: string): number {
  return Number(a.slice(1)) - Number(b.slice(1));
}

export function event(key: string, n: number, bytes = 1): OutboxEvent {
  return {
    id: String(n),
    key,
    type: null,
    payload: null,
    payloadText: null,
    payloadFormat: 'json',
    headers: {},
    headersText: null,
    columns: {},
    position: position(n),
    table: 'public.outbox',
    transaction: { id: String(n), ordinal: 1, commitTime: '2026-01-01T00:00:00.000000Z' },
    bytes,
  };
}

/** Doubles from 10 ms, never gives up, draws no lots. */
export const STEADY: RetryPolicy = {
  attempts: Infinity,
  maxElapsed: Infinity,
  initialDelay: 10,
  maxDelay: 1_000,
  factor: 2,
  jitter: 'none',
};

export function offsetAt(n: number, overrides: Partial<Offset> = {}): Offset {
  return {
    identity: { system: '7301' },
    watermark: position(n),
    completed: [],
    epoch: 3,
    revision: 40,
    savedAt: '2026-01-01T00:00:00.000Z',
    ...overrides,
  };
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** A logger that keeps its lines. */
export function keptLog(): {
  readonly log: Logger;
  readonly lines: LogLine[];
  said(text: string): LogLine[];
} {
  const lines: LogLine[] = [];
  const logger = (bound: Record<string, unknown>): Logger => {
    const write =
      (level: LogLine['level']) =>
      (fields: object, message: string): void => {
        lines.push({ level, fields: { ...bound, ...fields }, message });
      };
    return {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      child: (fields) => logger({ ...bound, ...fields }),
    };
  };
  return { log: logger({}), lines, said: (text) => lines.filter(({ message }) => message.includes(text)) };
}

/** A register that keeps every report, and forgets none. */
export class FakeInstances implements InstanceRegister {
  /** What was reported, oldest first. */
  readonly reports: InstanceReport[] = [];
  readonly ttls: number[] = [];
  readonly left: string[] = [];
  /** Answers a report or a leave. The default takes it at once. */
  answer: () => Promise<void> = () => Promise.resolve();

  report(_pipeline: string, report: InstanceReport, ttl: number): Promise<void> {
    this.reports.push(report);
    this.ttls.push(ttl);
    return this.answer();
  }

  leave(_pipeline: string, id: string): Promise<void> {
    this.left.push(id);
    return this.answer();
  }

  list(): Promise<readonly InstanceReport[]> {
    return Promise.resolve(this.reports);
  }

  get states(): string[] {
    return this.reports.map(({ state }) => state);
  }
}

const noBookmarks: BookmarkStore = {
  list: () => Promise.resolve([]),
  get: () => Promise.resolve(null),
  create: () => Promise.reject(new Error('this test makes no bookmark')),
  delete: () => Promise.resolve(false),
};

/** Controls in memory. */
export class FakeControls implements ControlStore {
  controls: Controls = NO_CONTROLS;
  /** How often it was asked whether there are newer ones. */
  looks = 0;
  /** Awaited by each call, before it is done. */
  before: () => Promise<void> = () => Promise.resolve();

  async load(): Promise<Controls> {
    await this.before();
    return this.controls;
  }

  async newer(_pipeline: string, revision: number): Promise<Controls | null> {
    this.looks += 1;
    await this.before();
    return this.controls.revision === revision ? null : this.controls;
  }

  async change(
    _pipeline: string,
    read: Controls,
    by: Pick<Controls, 'paused' | 'held'>,
  ): Promise<Controls | null> {
    await this.before();
    if (this.controls.revision !== read.revision) return null;
    this.controls = { ...by, revision: read.revision + 1 };
    return this.controls;
  }
}

/** An offset store whose answers the test gives. */
export class FakeStore implements OffsetStore {
  readonly name = 'fake';
  readonly instances = new FakeInstances();
  readonly bookmarks = noBookmarks;
  readonly controls = new FakeControls();
  /** What was asked to be saved, oldest first. */
  readonly commits: Offset[] = [];
  /** How many commits were under way at once, at most. */
  mostAtOnce = 0;
  closed = 0;
  saved: Offset | null = null;
  /** Answers a commit. The default saves at once. */
  answer: (offset: Offset) => CommitResult | Promise<CommitResult> = () => 'saved';
  #underWay = 0;

  load(): Promise<Offset | null> {
    return Promise.resolve(this.saved);
  }

  claim(_pipeline: string, seed: Pick<Offset, 'identity' | 'watermark'>): Promise<Offset> {
    const epoch = (this.saved?.epoch ?? 0) + 1;
    this.saved =
      this.saved === null ? offsetAt(0, { ...seed, epoch, revision: 0 }) : { ...this.saved, epoch };
    return Promise.resolve(this.saved);
  }

  async commit(_pipeline: string, offset: Offset): Promise<CommitResult> {
    this.commits.push(offset);
    this.#underWay += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#underWay);
    try {
      const result = await this.answer(offset);
      if (result === 'saved' || result === 'restored') this.saved = offset;
      return result;
    } finally {
      this.#underWay -= 1;
    }
  }

  replace: OffsetStore['replace'] = () => Promise.reject(new Error('this test replaces no offset'));

  replaced(): Promise<ReplacedOffset | null> {
    return Promise.resolve(null);
  }

  list: OffsetStore['list'] = () =>
    Promise.resolve(this.saved === null ? [] : [{ pipeline: 'test', offset: this.saved }]);

  close(): Promise<void> {
    this.closed += 1;
    return Promise.resolve();
  }

  get last(): Offset {
    const last = this.commits.at(-1);
    if (last === undefined) throw new Error('nothing was committed');
    return last;
  }
}

/** A source for configs whose source is not used. */
export const noSource: Source = {
  name: 'none',
  open: () => Promise.reject(new Error('this test opens no source')),
  reader: () => Promise.reject(new Error('this test opens no reader')),
  inspect: () => Promise.reject(new Error('this test inspects no source')),
};

export function pipelineConfig(overrides: Partial<PipelineOptions> = {}): PipelineConfig {
  return parsePipelineOptions({
    name: 'shop',
    source: noSource,
    offsets: new FakeStore(),
    retry: STEADY,
    log: keptLog().log,
    handle: () => undefined,
    ...overrides,
  });
}

export function executorFor(config: PipelineConfig, start = 0): Executor {
  return new Executor({
    start: position(start),
    concurrency: config.concurrency,
    batch: config.batch?.max ?? 1,
    retry: config.retry,
    random: () => 0.5,
  });
}

/** A promise that the test settles. */
export interface Gate<T = void> {
  readonly promise: Promise<T>;
  open(value: T): void;
  fail(error: unknown): void;
}

export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((onOpen, onFail) => {
    open = onOpen;
    fail = onFail;
  });
  return {
    promise,
    open: (value) => {
      open(value);
    },
    fail: (error) => {
      fail(error);
    },
  };
}

/** One turn of the event loop: everything that is due now has run afterwards. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Turns of the event loop until the condition holds: for what takes several of them, but no time. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + 5_000;
  while (!condition()) {
    if (performance.now() > giveUpAt) expect.fail(`in vain until ${what}`);
    await turn();
  }
}
