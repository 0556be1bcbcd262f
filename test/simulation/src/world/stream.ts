import {
  OwnershipLostError,
  type Offset,
  type OpenRequest,
  type Position,
  type SourceBatch,
  type SourceIdentity,
  type SourceStream,
} from '@strandline/core';
import { compare, positionOf } from './log.js';
import type { Member } from './member.js';
import type { Session } from './server.js';
import type { World } from './world.js';

/** Milliseconds until the server knows that a connection is gone: its client hears of it before. */
const SERVER_NOTICES = { least: 8, most: 60 };
/** Milliseconds between attempts to connect again. */
const RECONNECT = 15;

/** One term of ownership, as the source sees it: batches, doubt, loss. */
export class Stream implements SourceStream {
  readonly identity: SourceIdentity = { log: 'simulated' };
  readonly #world: World;
  readonly #member: Member;
  readonly #request: OpenRequest;
  readonly #lost = new AbortController();
  #session: Session;
  #next: number;
  #batches = 0;
  /** The client can't be reached, or can't reach the server. */
  #isCut = false;
  /** … and knows it. */
  #inDoubt = false;
  #isClosed = false;
  #tellDoubt: ((inDoubt: boolean) => void) | null = null;
  #wake: (() => void) | null = null;
  /** Who waits for the server's word that this process is the owner. */
  readonly #provers: (() => void)[] = [];

  constructor(
    world: World,
    member: Member,
    session: Session,
    readonly offset: Offset,
    request: OpenRequest,
  ) {
    this.#world = world;
    this.#member = member;
    this.#session = session;
    this.#request = request;
    const { server, draws } = world;
    // A server may also begin earlier, as far back as what is not released yet.
    const isEarlier = draws.unit('seek', member.life) < 0.3;
    this.#next = server.log.seek(isEarlier ? server.released : offset.watermark);
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** The client does not know that it is cut off. */
  get isUnaware(): boolean {
    return this.#isCut && !this.#inDoubt && !this.#lost.signal.aborted;
  }

  /** The pipeline knows that another process may own the log. */
  get hasToldDoubt(): boolean {
    return this.#inDoubt || this.#lost.signal.aborted;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  onDoubt(listener: (inDoubt: boolean) => void): void {
    this.#tellDoubt = listener;
    if (this.#inDoubt) listener(true);
  }

  compare(a: Position, b: Position): number {
    return compare(a, b);
  }

  confirm(position: Position): void {
    const { promises, server } = this.#world;
    promises.released(position);
    if (compare(position, server.released) > 0) server.released = position;
  }

  status(): ReturnType<SourceStream['status']> {
    return { state: 'streaming', lagBytes: null, reconnects: 0 };
  }

  async *read(): AsyncGenerator<SourceBatch> {
    const { clock } = this.#world;
    while (!this.#isOver()) {
      const batch = this.#isCut ? null : this.#take();
      if (batch === null) {
        await this.#more();
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        clock.answer(this.#member, this.#world.latency(), resolve);
      });
      if (this.#lost.signal.aborted) throw this.#lost.signal.reason as Error;
      if (this.#isClosed) return;
      yield batch;
    }
    if (this.#lost.signal.aborted) throw this.#lost.signal.reason as Error;
  }

  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isClosed = true;
    this.#wake?.();
    const { clock, server } = this.#world;
    return new Promise((resolve) => {
      clock.answer(this.#member, this.#world.latency(), () => {
        if (!this.#isCut) server.free(this.#session);
        resolve();
      });
    });
  }

  /** The connection breaks; it can be made again after so long. */
  cut(lasts: number): void {
    if (this.#isCut || this.#isOver()) return;
    this.#isCut = true;
    const { clock, server, draws } = this.#world;
    const session = this.#session;
    const noticed = SERVER_NOTICES.least + draws.unit('network', this.#member.life, 1) * SERVER_NOTICES.most;
    clock.after(noticed, () => {
      server.free(session);
    });
    clock.answer(this.#member, this.#world.latency() / 2, () => {
      this.hearsThatItIsCut(clock.now + lasts);
    });
  }

  /** The server has ended the session of a process that stood still; that process does not know. */
  ended(): void {
    this.#isCut = true;
    this.#world.server.free(this.#session);
  }

  /** @param backAt when a connection can be made again */
  hearsThatItIsCut(backAt: number): void {
    if (this.#isOver() || this.#inDoubt) return;
    if (this.#world.scenario.ownership === 'lock') {
      this.#lose('The session that held the lock is gone.');
      return;
    }
    this.#inDoubt = true;
    this.#tellDoubt?.(true);
    this.#connectLater(backAt);
  }

  proveOwnership(): Promise<void> {
    const { clock, server } = this.#world;
    return new Promise((resolve) => {
      clock.answer(this.#member, this.#world.latency(), () => {
        if (!this.#isCut && server.holds(this.#session)) resolve();
        else this.#provers.push(resolve);
      });
    });
  }

  #connectLater(backAt: number): void {
    const { clock } = this.#world;
    clock.answer(this.#member, RECONNECT, () => {
      if (this.#isOver()) return;
      if (clock.now < backAt) this.#connectLater(backAt);
      else void this.#connect();
    });
  }

  async #connect(): Promise<void> {
    const { server, clock } = this.#world;
    // Its own former session is in its way: the server is told to end it.
    server.free(this.#session);
    if (!server.isFree) {
      this.#lose('Another process reads the log.');
      return;
    }
    this.#session = server.take(this.#member.name);
    this.#member.session = this.#session;
    const saved = await this.#request.load().catch(() => null);
    if (this.#isOver()) {
      server.free(this.#session);
    } else if (saved === null) {
      server.free(this.#session);
      this.#connectLater(clock.now);
    } else if (saved.epoch > this.offset.epoch) {
      server.free(this.#session);
      this.#lose('Another process has owned the log meanwhile.');
    } else {
      this.#isCut = false;
      this.#inDoubt = false;
      for (const proven of this.#provers.splice(0)) proven();
      this.#tellDoubt?.(false);
      this.#wake?.();
    }
  }

  #lose(why: string): void {
    this.#lost.abort(new OwnershipLostError(why));
    this.#wake?.();
  }

  #isOver(): boolean {
    return this.#isClosed || this.#lost.signal.aborted;
  }

  #more(): Promise<void> {
    const { clock, server } = this.#world;
    return new Promise((resolve) => {
      this.#wake = resolve;
      // Who connects again reads on as well.
      if (!this.#isCut) {
        server.log.onMore(() => {
          clock.answer(this.#member, 0, resolve);
        });
      }
    });
  }

  /** Some of what comes next; null when there is nothing. */
  #take(): SourceBatch | null {
    const { log } = this.#world.server;
    if (this.#next >= log.items.length) return null;
    this.#batches += 1;
    const most = 1 + Math.floor(this.#world.draws.unit('batch', this.#member.life, this.#batches) * 8);
    const items = log.items.slice(this.#next, this.#next + most);
    this.#next += items.length;
    const last = items.at(-1);
    return {
      events: items.flatMap((item) => ('row' in item ? [item.row.event] : [])),
      passed: last !== undefined && 'passed' in last ? positionOf(last) : null,
    };
  }
}
