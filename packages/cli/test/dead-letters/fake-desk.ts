import {
  restoreEvent,
  type DeadLetter,
  type FailedAttempts,
  type LetterCounts,
  type LetterFilter,
  type LetterState,
} from '@strandline/core';
import type { LetterPage, PipelineDesk } from '@strandline/pipeline';
import { PassThrough } from 'node:stream';
import type { Desk } from '../../src/dead-letters/at-desk.js';

export const PAYLOAD = 'the-payload-of-4711';
export const PASSWORD = 'hunter2';

/** The n-th letter: its error tells a password and moves the cursor. */
export function letter(n: number, key: string, state: LetterState = 'waiting'): DeadLetter {
  const message = `no answer from postgres://shop:${PASSWORD}@db/shop\u001b[2J\nsecond line`;
  return {
    id: String(n),
    place: n,
    state,
    reason: 'failed',
    parkedAt: '2026-01-01T00:00:00.000Z',
    failure: {
      error: {
        name: 'TimeoutError',
        code: 'E_TIME',
        message,
        stack: `TimeoutError: ${message}\n\tat handle`,
      },
      attempts: 7,
      firstFailedAt: '2026-01-01T00:00:00.000Z',
      lastFailedAt: '2026-01-01T00:00:01.000Z',
      history: [
        failed(1, 3, { name: 'TypeError', code: null, message: 'not yet' }),
        failed(7, 7, { name: 'TimeoutError', code: 'E_TIME', message: 'no answer\u001b[2J' }),
      ],
    },
    event: restoreEvent({
      ...{
        id: `e${String(n)}`,
        key,
        type: 'paid',
        payloadText: `{"a": "${PAYLOAD}"}`,
        payloadFormat: 'json',
      },
      ...{ headersText: '{"h": 1}', columns: { tenant: 'acme' }, position: `p${String(n)}`, bytes: 400 },
      table: 'public.outbox',
      transaction: { id: '77', ordinal: 2, commitTime: '2026-01-01T00:00:00.000000Z' },
    }),
  };
}

function failed(first: number, last: number, error: FailedAttempts['error']): FailedAttempts {
  const at = (n: number): string => `2026-01-01T00:00:00.00${String(n)}Z`;
  return { first, last, firstFailedAt: at(first), lastFailedAt: at(last), error };
}

/** A desk in memory, with pages of two letters, that writes down what changes something. */
export class FakeDesk implements PipelineDesk {
  readonly asked: unknown[] = [];

  constructor(readonly letters: DeadLetter[]) {}

  list({ state, key }: LetterFilter = {}, { after, limit = 100 }: LetterPage = {}): Promise<DeadLetter[]> {
    const found = this.letters.filter(
      (one) =>
        Number(one.id) > Number(after ?? 0) &&
        (state ?? one.state) === one.state &&
        (key ?? one.event.key) === one.event.key,
    );
    return Promise.resolve(found.slice(0, Math.min(2, limit)));
  }

  show(id: string): Promise<DeadLetter | null> {
    return Promise.resolve(this.letters.find((one) => one.id === id) ?? null);
  }

  counts(): Promise<LetterCounts> {
    const waiting = this.letters.filter(({ state }) => state === 'waiting');
    return Promise.resolve({
      keys: new Set(waiting.map(({ event }) => event.key)).size,
      waiting: waiting.length,
      skipped: this.letters.filter(({ state }) => state === 'skipped').length,
    });
  }

  retry(filter: LetterFilter = {}): Promise<readonly string[]> {
    this.asked.push(['retry', filter]);
    return Promise.resolve([...new Set(this.letters.map(({ event }) => event.key))]);
  }

  skip(key: string): Promise<DeadLetter | null> {
    this.asked.push(['skip', key]);
    return Promise.resolve(this.letters.find(({ event }) => event.key === key) ?? null);
  }

  discard(key: string): Promise<number> {
    this.asked.push(['discard', key]);
    return Promise.resolve(this.letters.filter(({ event }) => event.key === key).length);
  }

  diagnose(): Promise<never[]> {
    return Promise.resolve([]);
  }

  async *export({ state }: LetterFilter = {}): AsyncGenerator<DeadLetter> {
    for (const one of this.letters) {
      if ((state ?? one.state) === one.state) yield await Promise.resolve(one);
    }
  }
}

export interface FakeDeskWithStreams {
  readonly at: Desk;
  readonly desk: FakeDesk;
  /** What was written so far. */
  readonly wrote: { stdout: string; stderr: string };
}

/** A desk with the streams of a terminal on which somebody types; without `typed` there is no terminal. */
export function deskWith(letters: DeadLetter[], typed?: string): FakeDeskWithStreams {
  const desk = new FakeDesk(letters);
  const wrote = { stdout: '', stderr: '' };
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== undefined });
  stdin.end(typed ?? '');
  const output = (name: 'stdout' | 'stderr') => {
    const stream = new PassThrough();
    stream.on('data', (text: Buffer) => (wrote[name] += text.toString()));
    return stream;
  };
  const streams = { stdin, stdout: output('stdout'), stderr: output('stderr') };
  const at: Desk = { pipeline: 'orders', letters: desk, streams };
  return { at, desk, wrote };
}
