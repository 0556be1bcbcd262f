import type {
  Offset,
  OpenRequest,
  OutboxEvent,
  OwnershipLostError,
  Source,
  SourceBatch,
  SourceIdentity,
  SourceStatus,
  SourceStream,
} from '@strandline/core';
import { compare, position } from './fixtures.js';

/** A stream that hands over what the test gives it, when the test gives it. */
export class ScriptedStream implements SourceStream {
  /** What was confirmed, in order. */
  readonly confirmed: string[] = [];
  /** How many batches were asked for: one more than were handed over while the reader waits. */
  asked = 0;
  closed = 0;
  /** Says that the log may be another owner's, or is this one's. */
  doubt: (inDoubt: boolean) => void = () => undefined;
  readonly #loss = new AbortController();
  readonly #queue: (SourceBatch | { readonly error: unknown } | 'end')[] = [];
  #wake: (() => void) | null = null;

  constructor(readonly offset: Offset) {}

  get identity(): SourceIdentity {
    return this.offset.identity;
  }

  onDoubt(listener: (inDoubt: boolean) => void): void {
    this.doubt = listener;
  }

  /** Hands over events; `passed` defaults to the position behind the last of them. */
  give(events: readonly OutboxEvent[], passed: number | null = null): void {
    this.#push({ events, passed: passed === null ? null : position(passed) });
  }

  fail(error: unknown): void {
    this.#push({ error });
  }

  end(): void {
    this.#push('end');
  }

  /** Another process may own the log from now on. */
  lose(error: OwnershipLostError): void {
    this.#loss.abort(error);
  }

  get lost(): AbortSignal {
    return this.#loss.signal;
  }

  async *read(): AsyncGenerator<SourceBatch> {
    while (this.closed === 0) {
      this.asked += 1;
      await this.#news();
      const next = this.#queue.shift();
      if (next === undefined || next === 'end') return;
      if ('error' in next) throw next.error;
      yield next;
    }
  }

  compare(a: string, b: string): number {
    return compare(a, b);
  }

  confirm(at: string): void {
    this.confirmed.push(at);
  }

  status(): SourceStatus {
    return { state: this.closed > 0 ? 'closed' : 'streaming', lagBytes: 0, reconnects: 0 };
  }

  close(): Promise<void> {
    this.closed += 1;
    this.#wake?.();
    return Promise.resolve();
  }

  async #news(): Promise<void> {
    while (this.#queue.length === 0 && this.closed === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  #push(next: SourceBatch | { readonly error: unknown } | 'end'): void {
    this.#queue.push(next);
    this.#wake?.();
  }
}

/** A source whose opening the test writes, one function per call; the last one serves all further calls. */
export class ScriptedSource implements Source {
  readonly name = 'scripted';
  opened = 0;
  readonly #openings: readonly ((request: OpenRequest) => Promise<SourceStream>)[];

  constructor(...openings: readonly ((request: OpenRequest) => Promise<SourceStream>)[]) {
    this.#openings = openings;
  }

  open(request: OpenRequest): Promise<SourceStream> {
    const opening = this.#openings[Math.min(this.opened, this.#openings.length - 1)];
    this.opened += 1;
    if (opening === undefined) throw new Error('this test opens no source');
    return opening(request);
  }

  reader(): Promise<never> {
    return Promise.reject(new Error('this test opens no reader'));
  }

  inspect(): Promise<never> {
    return Promise.reject(new Error('this test inspects no source'));
  }
}
