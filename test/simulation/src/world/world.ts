import { StrandlineError, type Controls, type Offset, type OffsetStore } from '@strandline/core';
import { memoryOffsets } from '@strandline/offsets-local';
import type { PipelineConfig } from '@strandline/pipeline/parsed';
import { MemoryDeadLetters } from '@strandline/test-kit/memory-dead-letters';
import { Random } from '@strandline/test-kit/random';
import { Clock } from '../clock.js';
import { ALL_KEYS, Promises } from '../promises.js';
import { Draws } from '../draws.js';
import type { PlannedFault, Scenario } from '../scenario.js';
import { Log } from './log.js';
import { configOf, Member, PIPELINE } from './member.js';
import { Server } from './server.js';
import { UnfinishedWork } from './unfinished-work.js';

/** Milliseconds that the server bears with a client that says nothing. */
const SERVER_PATIENCE = 1_200;
/** Milliseconds after which a supervisor kills a process that does not stop. */
const STOP_PATIENCE = 300;
/** Milliseconds in which everything must have come right. */
const QUIET = 60_000;
/** Milliseconds in which nothing may wait that nothing holds up. */
const ISOLATED = 10_000;

const NOBODY: ReadonlySet<string> = new Set();

/** A schedule did not go as promised. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

/** All that there is in one schedule. */
export class World {
  readonly clock = new Clock();
  readonly draws: Draws;
  readonly chance: () => number;
  readonly log: Log;
  readonly server: Server;
  readonly promises: Promises;
  readonly offsets: OffsetStore;
  readonly letters: MemoryDeadLetters;
  readonly unfinishedLetters = new UnfinishedWork();
  /** Handlers that do not end. */
  readonly hung = new Set<{ readonly member: Member; readonly key: string; readonly end: () => void }>();
  offsetsAway = 0;
  lettersAway = 0;
  isQuiet = false;
  readonly #crew: (Member | null)[] = [];
  readonly #storage = new Map<string, Offset>();
  readonly #config: PipelineConfig;
  #lives = 0;
  #latencies = 0;
  /** A pipeline has ended with this, and no restart can heal it. */
  #fault: Error | null = null;

  /** @param tell is told what happens, for people to read */
  constructor(
    readonly scenario: Scenario,
    private readonly tell: ((line: string) => void) | null = null,
  ) {
    this.draws = new Draws(scenario.seed);
    const random = new Random(~scenario.seed);
    this.chance = () => random.unit();
    this.log = new Log(scenario.ownEnd);
    this.server = new Server(this.log);
    this.promises = new Promises(
      this.log,
      () => this.clock.now,
      (line) => {
        this.#say(line);
      },
    );
    this.offsets = memoryOffsets({ storage: this.#storage });
    this.letters = new MemoryDeadLetters(() => this.clock.wall);
    this.#config = configOf(this);
  }

  /** Plays the schedule, and then a quiet end in which everything must come right. Throws what was found. */
  async play(): Promise<void> {
    const { commits, faults, crew } = this.scenario;
    for (const { at, keys } of commits)
      this.clock.after(at, () => {
        this.#say(() => `commits ${keys.join(' ')}`);
        this.log.commit(keys);
      });
    for (const fault of faults)
      this.clock.after(fault.at, () => {
        this.#strike(fault);
      });
    for (let place = 0; place < crew; place += 1) this.#boot(place);
    const last = Math.max(0, commits.at(-1)?.at ?? 0, ...faults.map((fault) => fault.at + lengthOf(fault)));
    await this.#until(() => this.clock.now > last, last + 1);
    this.#say(() => 'the faults are over');
    this.isQuiet = true;
    this.promises.quietSince = this.clock.now;
    await this.#isolated();
    await this.#finish();
  }

  /** Milliseconds that something takes over the network. */
  latency(): number {
    this.#latencies += 1;
    return 0.05 + this.draws.unit('network', this.#latencies) * 2;
  }

  /** Something has come to an end that no restart can heal. */
  fail(error: Error): void {
    this.#fault ??= error;
  }

  /** SIGKILL, a crash: it is gone at once, and its supervisor starts another one. */
  die(member: Member): void {
    if (member.isDead) return;
    this.#say(() => `${member.name} is gone`);
    member.isDead = true;
    for (const entry of this.hung) if (entry.member === member) this.hung.delete(entry);
    const { session, place, life } = member;
    this.#crew[place] = null;
    if (session !== null)
      this.clock.after(this.draws.between(3, 40, 'restart', life, 1), () => {
        this.server.free(session);
      });
    this.clock.after(this.draws.between(2, 60, 'restart', life), () => {
      if (this.#crew[place] === null) this.#boot(place);
    });
  }

  #boot(place: number): void {
    this.#lives += 1;
    this.#say(() => `process ${String(this.#lives)} is started`);
    const member = new Member(this, place, this.#lives, this.#config);
    this.#crew[place] = member;
    this.clock.as(member, () => {
      const { pipeline } = member;
      pipeline.start().catch((error: unknown) => {
        this.#ended(member, error);
      });
      pipeline.finished.then(
        () => {
          this.die(member);
        },
        (error: unknown) => {
          this.#ended(member, error);
        },
      );
    });
  }

  /** A pipeline has ended by itself: only for what a restart can heal. */
  #ended(member: Member, error: unknown): void {
    if (!(error instanceof StrandlineError) || !error.transient) this.fail(error as Error);
    this.die(member);
  }

  #say(line: () => string): void {
    this.tell?.(`${this.clock.now.toFixed(1).padStart(8)}  ${line()}`);
  }

  #strike(fault: PlannedFault): void {
    this.#say(() => JSON.stringify(fault));
    switch (fault.kind) {
      case 'kill':
        this.#with(fault.member, (member) => {
          this.die(member);
        });
        return;
      case 'stop':
        this.#with(fault.member, (member) => {
          this.#stop(member);
        });
        return;
      case 'pause':
        this.#with(fault.member, (member) => {
          this.#pause(member, fault.lasts);
        });
        return;
      case 'cut':
        this.#with(fault.member, (member) => {
          if (!member.isPaused) member.stream?.cut(fault.lasts);
        });
        return;
      case 'skew':
        this.#with(fault.member, (member) => {
          member.clockSkew += fault.by;
        });
        return;
      case 'offsets away':
        this.offsetsAway += 1;
        this.clock.after(fault.lasts, () => {
          this.offsetsAway -= 1;
        });
        return;
      case 'letters away':
        this.lettersAway += 1;
        this.clock.after(fault.lasts, () => {
          this.lettersAway -= 1;
        });
        return;
      case 'retry':
      case 'skip':
      case 'discard':
        void this.#operate(fault.kind, fault.key);
        return;
      case 'hold':
        void this.#order(fault.key, true);
        this.#letGo(fault.key, fault.lasts);
        return;
      case 'rest':
        void this.#order(ALL_KEYS, true);
        this.#letGo(ALL_KEYS, fault.lasts);
        return;
      case 'hold here':
        this.#with(fault.member, (member) => {
          this.#holdHere(member, fault.key);
        });
        this.#letGo(fault.key, fault.lasts);
        return;
      case 'try now':
      case 'park now':
      case 'skip now':
        this.#with(fault.member, (member) => {
          this.#operateHere(member, fault.kind, fault.key);
        });
    }
  }

  #letGo(key: string, lasts: number): void {
    this.clock.after(lasts, () => void this.#order(key, false));
  }

  /** An operator elsewhere changes what the offset store has. */
  async #order(key: string, isHeld: boolean): Promise<void> {
    const { controls } = this.offsets;
    if (!isHeld) this.promises.letGo(key);
    for (let done: Controls | null = null; done === null;) {
      const read = await controls.load(PIPELINE);
      const held = read.held.filter((one) => one.key !== key);
      const by = { by: 'somebody', at: '', note: '' };
      const paused = isHeld ? by : null;
      const next =
        key === ALL_KEYS
          ? { paused, held: read.held }
          : { paused: read.paused, held: isHeld ? [...held, { key, ...by }] : held };
      done = await controls.change(PIPELINE, read, next);
    }
    if (isHeld) this.promises.held(key);
  }

  #holdHere(member: Member, key: string): void {
    if (member.isPaused) return;
    this.clock.as(member, () => {
      member.pipeline.control.hold(key).then(
        async ({ here }) => {
          const { held } = await this.offsets.controls.load(PIPELINE);
          // Somebody may have released it before the answer came.
          if (!here || !held.some((one) => one.key === key)) return;
          this.promises.held(key);
          if (this.promises.isOwner(member)) this.promises.obeys(member, key);
        },
        (error: unknown) => {
          this.#refused(error);
        },
      );
    });
  }

  #operateHere(member: Member, kind: 'try now' | 'park now' | 'skip now', key: string): void {
    if (member.isPaused) return;
    this.clock.as(member, () => {
      const { control } = member.pipeline;
      const how = { 'try now': 'retry', 'park now': 'park', 'skip now': 'skip' } as const;
      control[how[kind]](key).catch((error: unknown) => {
        this.#refused(error);
      });
    });
  }

  /** What an operator is told is an answer. */
  #refused(error: unknown): void {
    if (!(error instanceof StrandlineError) || error.code === 'INVARIANT') this.fail(error as Error);
  }

  #with(place: number, strike: (member: Member) => void): void {
    const member = this.#crew[place];
    if (member !== undefined && member !== null) strike(member);
  }

  #stop(member: Member): void {
    this.clock.as(member, () => void member.pipeline.stop());
    this.clock.after(STOP_PATIENCE, () => {
      this.die(member);
    });
  }

  #pause(member: Member, lasts: number): void {
    const { stream } = member;
    // Who is cut off without knowing it hears of it before the server gives the log away: by time-outs, which a
    // process that stands still can't keep.
    if (member.isPaused || stream?.isUnaware === true) return;
    member.isPaused = true;
    const isDropped = lasts > SERVER_PATIENCE && stream !== null && !stream.isCut;
    if (isDropped)
      this.clock.after(SERVER_PATIENCE, () => {
        stream.ended();
      });
    this.clock.after(lasts, () => {
      member.isPaused = false;
      this.clock.resume(member);
      if (isDropped)
        this.clock.answer(member, 0, () => {
          stream.hearsThatItIsCut(this.clock.now);
        });
    });
  }

  async #operate(kind: 'retry' | 'skip' | 'discard', key: string): Promise<void> {
    this.unfinishedLetters.finish();
    const desk = this.letters.desk();
    const filter = { key, state: 'waiting' } as const;
    if (kind === 'retry') {
      await desk.retry(PIPELINE, filter);
      return;
    }
    const waiting = await desk.list(PIPELINE, filter, { after: null, limit: 1_000 });
    if (waiting.length === 0) return;
    if (kind === 'skip') {
      const skipped = await desk.skipHead(PIPELINE, key);
      if (skipped !== null) this.promises.leftOut(skipped.event);
    } else {
      await desk.discard(PIPELINE, key);
      for (const { event } of waiting) this.promises.leftOut(event);
    }
  }

  /** Nothing waits but keys whose handlers hang, if there are places and room for others. */
  async #isolated(): Promise<void> {
    const { concurrency, window, maxPerKey, overflow, onFailure } = this.scenario.options;
    const stuck = new Set([...this.hung].map(({ key }) => key));
    if (stuck.size === 0 || stuck.size >= concurrency || window < this.log.rows.length) return;
    if ((maxPerKey < Infinity && overflow === 'pause') || onFailure === 'halt') return;
    // A former owner waits for its handlers before it does anything else, and suspects run one at a time. It may be found
    // to be one meanwhile.
    const allWork = (): boolean => [...this.hung].every(({ member }) => this.#works(member));
    if (!allWork()) return;
    await this.#until(() => this.promises.isDoneBut(stuck) || !allWork(), ISOLATED);
    if (allWork()) this.promises.nothingWaitsBut(stuck);
    this.#raise();
  }

  /** It owns the log, by the store's word as well: the claim of another one may have arrived late. */
  #works(member: Member): boolean {
    const { epoch, suspecting } = member.pipeline.status();
    const isOwner = this.promises.isOwner(member) && this.#storage.get(PIPELINE)?.epoch === epoch;
    return isOwner && !member.mayNotStart && !suspecting;
  }

  async #finish(): Promise<void> {
    for (const entry of this.hung) this.clock.answer(entry.member, 0, entry.end);
    const isOver = (): boolean => this.promises.isDoneBut(NOBODY) && this.#isSaved();
    await this.#until(isOver, QUIET);
    this.promises.finished(this.#storage.get(PIPELINE) ?? null);
    this.#raise();
    for (const member of this.#crew) if (member !== null) member.isDead = true;
  }

  #isSaved(): boolean {
    const offset = this.#storage.get(PIPELINE);
    return offset?.watermark === this.log.end && offset.completed.length === 0;
  }

  /** Plays on, and helps as an operator would: parked keys are released, halted ones are tried again by a restart. */
  async #until(holds: () => boolean, most: number): Promise<void> {
    const end = this.clock.now + most;
    while (this.clock.now < end) {
      const next = Math.min(end, this.clock.now + 100);
      let isHelpDue = false;
      this.clock.after(next - this.clock.now, () => {
        isHelpDue = true;
      });
      await this.clock.play(() => isHelpDue || this.#isBroken() || holds(), next - this.clock.now);
      this.#raise();
      if (holds()) return;
      if (this.isQuiet) this.#help();
    }
  }

  #help(): void {
    // What was ordered over the network may have come late.
    for (const key of [ALL_KEYS, ...this.scenario.keys]) void this.#order(key, false);
    for (const key of this.scenario.keys) void this.#operate('retry', key);
    for (const member of this.#crew)
      if (member !== null && !member.isPaused && member.pipeline.status().halted > 0) this.#stop(member);
  }

  #isBroken(): boolean {
    return this.#fault !== null || this.promises.broken !== null;
  }

  #raise(): void {
    if (this.promises.broken !== null) throw new ScheduleError(this.promises.broken);
    if (this.#fault !== null)
      throw new ScheduleError(`a pipeline has stopped: ${String(this.#fault)}`, { cause: this.#fault });
  }
}

function lengthOf(fault: PlannedFault): number {
  return 'lasts' in fault ? fault.lasts : 0;
}
