import {
  OwnershipLostError,
  StrandlineError,
  type Bookmark,
  type Controls,
  type Finding,
  type HandlerParts,
  type Logger,
  type OffsetStore,
  type OutboxEvent,
  type Source,
  type SourceStream,
} from '@strandline/core';
import pino from 'pino';
import {
  parsePipelineOptions,
  type BatchPipelineOptions,
  type PipelineConfig,
  type PipelineOptions,
} from './config.js';
import { NamedControlDesk, type ControlDesk } from './control/control-desk.js';
import { Happenings } from './control/happenings.js';
import { StrandDesk, type PayloadView } from './control/strand-desk.js';
import { NamedDesk, type PipelineDesk } from './letters/desk.js';
import { diagnosePipeline } from './diagnose.js';
import { errorFields } from './error-fields.js';
import { pipelineError } from './errors.js';
import { pause } from './pause.js';
import { InstanceReporter } from './report/instance-reporter.js';
import type { ClaimedLetters } from './letters/letter-room.js';
import type { KeyView } from './report/key-view.js';
import { Observer } from './report/observer.js';
import type { StrandList, StrandQuery } from './report/strand-list.js';
import type { ReplayOptions } from './replay/options.js';
import type { Replay } from './replay/replay.js';
import { Replays } from './replay/replays.js';
import { tail, type TailOptions } from './replay/tail.js';
import { NamedBookmarkDesk, type BookmarkDesk } from './operator/bookmark-desk.js';
import { NamedOffsetDesk, type OffsetDesk } from './operator/offset-desk.js';
import { Run } from './run.js';
import { pruneOnce, type PruneReport, type PruneRequest } from './prune/prune-once.js';
import { Pruning } from './prune/pruning.js';
import type { PipelineState } from './pipeline-state.js';
import type { InstanceDetails } from './report/instance-details.js';
import { Ledger, type Totals } from './report/ledger.js';
import { statusOf, type PipelineStatus } from './report/status.js';
import { tell } from './events/channels.js';
import { logOf } from './log-keys.js';

/** Milliseconds. */
const LONGEST_REOPEN_DELAY = 10_000;

/** A source, an offset store and a handler, composed. Runs at most once: define another to run again. */
export interface Pipeline extends AsyncDisposable {
  readonly name: string;
  /** What it reads, and where it saves its offset, for whoever looks at it from outside. `stop` closes the latter. */
  readonly source: Source;
  readonly offsets: OffsetStore;
  /** What its handlers bring along, such as a look at what they need. */
  readonly handlerParts: readonly HandlerParts[];
  /** Where its lines go, for what has to do with it: they say its name, and have keys as `logKeys` asks. */
  readonly log: Logger;
  /**
   * Resolves when events are being handed out, or when another process owns the pipeline and this one stands
   * by. Rejects with a StrandlineError when the pipeline can't start.
   */
  start(): Promise<void>;
  /**
   * Drains: stops reading, lets what is in flight finish, saves the offset, releases the log. May be called at
   * any time and more than once. Called by a handler before its first await it resolves at once, since it can't
   * wait for that handler; after an await, do not await it in a handler: it would wait for itself until
   * `drainTimeout` is over.
   */
  stop(): Promise<void>;
  /**
   * Resolves when the pipeline has stopped; rejects when it had to stop after it started. Handle it: like any
   * rejected promise that nobody handles, it ends the process, since a pipeline that stops must not go unnoticed.
   */
  readonly finished: Promise<void>;
  status(): PipelineStatus;
  /** What its options ask of this process, for `strandline doctor`. Source, stores and handlers have checks of their own. */
  diagnose(): readonly Finding[];
  /** What it has done in this process, over all its terms of ownership, replays not included. */
  totals(): Totals;
  /**
   * What this process reports of itself: beside the status the keys that fail longest, those with most events here and
   * the turns that run longest, ten of each. It takes about a millisecond.
   */
  details(): InstanceDetails;
  /**
   * Handles a part of the log again, beside whoever runs the pipeline, which need not run here: in order per key, keys in
   * parallel, under a name and an offset of its own. The pipeline's own offset and dead letters stay as they are. An
   * interrupted replay goes on when the same is asked for again. Resolves when it is running; it ends with the pipeline.
   *
   * Throws `REPLAY_CONFIG`, `REPLAY_BOOKMARK`, `REPLAY_RANGE`, `REPLAY_UNFINISHED`, `REPLAY_NAME`, `REPLAY_TAKEN`,
   * `REPLAY_HOOK`, and what source and offset store throw, when the log does not reach back that far for instance.
   */
  replay(options: ReplayOptions): Promise<Replay>;
  /**
   * Committed events in commit order, as they come, from any place of the log, without touching anything. It ends with
   * its signal and with the pipeline. Throws `REPLAY_CONFIG`, `REPLAY_BOOKMARK`, and what the source throws.
   */
  tail(options?: TailOptions): AsyncIterable<OutboxEvent>;
  /**
   * Deletes rows of the outbox that are old and that every pipeline on it has settled, once, also where the pipeline runs
   * elsewhere or not at all. Throws `PIPELINE_CONFIG`, and what source and offset store throw.
   */
  prune(request?: PruneRequest): Promise<PruneReport>;
  /** What could not be handled, for an operator; null without `deadLetters`. Closed when the pipeline stops. */
  readonly deadLetters: PipelineDesk | null;
  /** Where the pipeline stands, for an operator to look at and to change while it does not run. Closed like `offsets`. */
  readonly offset: OffsetDesk;
  /** Named positions of the log, to replay from or to go back to. Closed like `offsets`. */
  readonly bookmarks: BookmarkDesk;
  /** Pausing the pipeline, holding and releasing keys, and what else an operator does while it runs. Closed like `offsets`. */
  readonly control: ControlDesk;
  /**
   * The live keys, what needs somebody first: a page of them, in the order that is asked for. However many there are, the
   * event loop is kept for about a millisecond at a time. Throws `PIPELINE_NOT_OWNER`, and `PIPELINE_CONTROL` for a wrong
   * query.
   */
  strands(query?: StrandQuery): Promise<StrandList>;
  /** All that is known of one key: live, held, parked, and what has happened to it lately. */
  key(key: string): Promise<KeyView>;
  /**
   * The payload of an event that waits here, cut after so many characters (default 16,384, at most 1,048,576). Throws
   * `PIPELINE_KEY_UNKNOWN` and `PIPELINE_NOT_OWNER`.
   */
  payload(key: string, position: string, limit?: number): Promise<PayloadView>;
  /** Makes a bookmark of where the log ends now: short for `bookmarks.create(name)`. */
  bookmark(name: string): Promise<Bookmark>;
}

/** Composes a pipeline; throws `PIPELINE_CONFIG` for wrong options. */
export function definePipeline(options: PipelineOptions | BatchPipelineOptions): Pipeline {
  return pipelineOf(parsePipelineOptions(options));
}

/** A pipeline of options that were validated before. */
export function pipelineOf(config: PipelineConfig): Pipeline {
  return new RunningPipeline(config);
}

/** What a term of ownership begins with. */
interface Opened {
  readonly stream: SourceStream;
  readonly claimed: ClaimedLetters | null;
  readonly controls: Controls;
}

class RunningPipeline implements Pipeline {
  readonly deadLetters: NamedDesk | null;
  readonly offset: OffsetDesk;
  readonly bookmarks: BookmarkDesk;
  readonly control: ControlDesk;
  readonly #strands: StrandDesk;
  readonly #happenings = new Happenings();
  readonly #config: PipelineConfig;
  readonly #log: Logger;
  readonly #stopping = new AbortController();
  readonly #reporter: InstanceReporter;
  readonly #observer = new Observer();
  readonly #replays: Replays;
  readonly #ledger = new Ledger();
  #state: PipelineState = 'idle';
  #run: Run | null = null;
  /** The run is a term of ownership that has not ended. */
  #owning = false;
  /** What the pipeline has stopped with. */
  #failure: unknown = null;
  /** The code of what it could not be opened for when it was tried last. */
  #notOpened: string | null = null;
  /** Of this term of ownership, or of the last one. */
  #pruning: Pruning | null = null;
  #main: Promise<void> | null = null;
  #started: (() => void) | null = null;
  #seenWorking = false;
  #reconnectsSeen = 0;
  readonly #end: PromiseWithResolvers<void> = withResolvers();

  constructor(config: PipelineConfig) {
    this.#config = config;
    this.deadLetters =
      config.deadLetters === undefined
        ? null
        : new NamedDesk(config.name, config.deadLetters, config.parking.limits);
    this.#log = logOf(config.log ?? defaultLogger(), config.logKeys, config.name);
    this.#replays = new Replays(config, this.#log);
    const { name, source, offsets } = config;
    const parts = { name, source, offsets, signal: this.#stopping.signal, log: this.#log };
    const desk = { ...parts, state: () => this.#state };
    this.offset = new NamedOffsetDesk(desk);
    this.bookmarks = new NamedBookmarkDesk(desk);
    const { deadLetters } = this;
    const running = { name, offsets, run: () => (this.#owning ? this.#run : null) };
    this.control = new NamedControlDesk(running);
    this.#strands = new StrandDesk({ ...running, happenings: this.#happenings, deadLetters });
    this.#reporter = new InstanceReporter({
      register: config.offsets.instances,
      pipeline: config.name,
      log: this.#log,
      look: () => ({
        state: this.#state,
        epoch: this.#run?.stream.offset.epoch ?? null,
        details: this.#look(),
      }),
    });
  }

  get name(): string {
    return this.#config.name;
  }

  get source(): Source {
    return this.#config.source;
  }

  get offsets(): OffsetStore {
    return this.#config.offsets;
  }

  get handlerParts(): readonly HandlerParts[] {
    return this.#config.handlerParts;
  }

  get log(): Logger {
    return this.#log;
  }

  get finished(): Promise<void> {
    return this.#end.promise;
  }

  bookmark(name: string): Promise<Bookmark> {
    return this.bookmarks.create(name);
  }

  status(): PipelineStatus {
    const outside = {
      ...{ state: this.#state, owned: this.#owning },
      ...{ offsetsReached: this.#reporter.isHeard, notOpened: this.#notOpened },
      prune: this.#pruning?.figures ?? null,
    };
    return statusOf(this.#config, outside, this.#run);
  }

  async prune(request: PruneRequest = {}): Promise<PruneReport> {
    return pruneOnce(request, this.#config, this.#stopping.signal, this.#log);
  }

  strands(query: StrandQuery = {}): Promise<StrandList> {
    return this.#strands.list(query);
  }

  key(key: string): Promise<KeyView> {
    return this.#strands.key(key);
  }

  payload(key: string, position: string, limit?: number): Promise<PayloadView> {
    return this.#strands.payload(key, position, limit);
  }

  diagnose(): readonly Finding[] {
    return diagnosePipeline(this.#config);
  }

  totals(): Totals {
    return this.#ledger.totals();
  }

  details(): InstanceDetails {
    const run = this.#owning ? this.#run : null;
    return this.#observer.look(run, this.#failure, this.#pruning?.figures ?? null);
  }

  async replay(options: ReplayOptions): Promise<Replay> {
    return this.#replays.start(options);
  }

  tail(options: TailOptions = {}): AsyncIterable<OutboxEvent> {
    return tail(options, this.#config, this.#stopping.signal, this.#log);
  }

  async start(): Promise<void> {
    if (this.#state !== 'idle') {
      throw pipelineError(
        'PIPELINE_STATE',
        `The pipeline ${this.name} is ${this.#state}.`,
        'A pipeline starts once. Define it again to run it again.',
      );
    }
    this.#become('starting');
    this.#reporter.start();
    const started = new Promise<void>((resolve) => {
      this.#started = resolve;
    });
    this.#main = this.#runAll();
    this.#main.then(this.#end.resolve, this.#end.reject);
    try {
      await Promise.race([started, this.#main]);
    } catch (error) {
      // Told here: nobody has to listen to `finished` for it too.
      this.#end.promise.catch(() => undefined);
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const insideReplay = this.#replays.insideHandler;
    void this.#replays.close();
    if (this.#state === 'idle') {
      this.#become('stopped');
      const closed = this.#closeStores().then(this.#end.resolve);
      if (insideReplay) closed.catch(this.#end.reject);
      else await closed;
      return;
    }
    this.#become('stopping');
    this.#run?.stop();
    // At once: what it is at needs no end in order.
    void this.#pruning?.stop();
    if (insideReplay || this.#run?.insideHandler === true) return;
    // How it ended is for `start` and `finished` to tell.
    await this.#main?.catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Term after term of ownership, until the pipeline stops. */
  async #runAll(): Promise<void> {
    try {
      while (!this.#stopping.signal.aborted) {
        const opened = await this.#open();
        if (opened === null) break;
        if (opened !== 'lost') await this.#runOnce(opened);
      }
      this.#become('stopped');
      this.#log.info({}, 'stopped');
    } catch (error) {
      this.#failure = error;
      this.#become('failed');
      this.#log.error({ err: errorFields(error) }, 'stopped by an error');
      throw error;
    } finally {
      await this.#reporter.end(this.#state === 'failed' ? 'failed' : 'left');
      await this.#closeStores();
    }
  }

  async #closeStores(): Promise<void> {
    const { offsets, deadLetters, handlerParts } = this.#config;
    await this.#replays.close();
    for (const part of handlerParts) {
      try {
        await part.close?.();
      } catch (error) {
        // It is the user's, and what comes after it must be closed all the same.
        this.#log.warn({ err: errorFields(error) }, 'a handler has not closed well');
      }
    }
    await offsets.close();
    await this.deadLetters?.close();
    await deadLetters?.close();
  }

  async #runOnce({ stream, ...opened }: Opened): Promise<void> {
    const [config, log, happenings, ledger] = [this.#config, this.#log, this.#happenings, this.#ledger];
    const run = new Run({ config, stream, log, happenings, ledger, ...opened });
    this.#run = run;
    this.#owning = true;
    this.#ledger.begin(run);
    this.#become('running');
    const { epoch, watermark: position } = stream.offset;
    tell('strandline:ownership:gained', () => ({ ...this.#whose, epoch, position }));
    this.#log.info({ position: stream.offset.watermark, epoch: stream.offset.epoch }, 'running');
    this.#sawWorking();
    if (this.#stopping.signal.aborted) run.stop();
    const pruning = this.#startPruning();
    let how: 'taken' | 'given-up' = 'given-up';
    try {
      await run.run();
    } catch (error) {
      if (!(error instanceof OwnershipLostError)) throw error;
      this.#log.warn({ err: errorFields(error) }, 'lost the ownership of the pipeline');
      how = 'taken';
    } finally {
      this.#owning = false;
      await pruning?.stop();
      this.#ledger.end();
      if (how === 'taken') this.#ledger.ownershipsLost += 1;
      const { watermark: position } = run.executor;
      tell('strandline:ownership:lost', () => ({ ...this.#whose, epoch, position, how }));
    }
  }

  #startPruning(): Pruning | null {
    const { name: pipeline, source, offsets, prune: config } = this.#config;
    if (config === undefined) return null;
    this.#pruning = new Pruning({ pipeline, source, offsets, config, log: this.#log });
    this.#pruning.start();
    return this.#pruning;
  }

  /** What is reported about once a second; what has happened since the last look is told. */
  #look(): InstanceDetails {
    const details = this.details();
    const reconnects = details.source?.reconnects ?? 0;
    if (reconnects > this.#reconnectsSeen)
      tell('strandline:source:reconnected', () => ({ ...this.#whose, reconnects }));
    this.#reconnectsSeen = reconnects;
    return details;
  }

  get #whose(): { readonly pipeline: string; readonly replay: null } {
    return { pipeline: this.name, replay: null };
  }

  /**
   * Opens the source and takes the dead-letter table; null when the pipeline was stopped meanwhile. On the way up every fault is reported at
   * once. A pipeline that has seen everything work, as owner or as standby, waits for what can come right.
   */
  async #open(): Promise<Opened | 'lost' | null> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#openOnce();
      } catch (error) {
        if (this.#stopping.signal.aborted) return null;
        const healing = this.#seenWorking && error instanceof StrandlineError && error.transient;
        if (!healing) throw error;
        this.#notOpened = String(error.code);
        const delay = Math.min(LONGEST_REOPEN_DELAY, 100 * 2 ** attempt);
        this.#log.warn({ err: errorFields(error), delay }, 'the pipeline can not be opened: trying again');
        await pause(delay, this.#stopping.signal);
      }
    }
  }

  async #openOnce(): Promise<Opened | 'lost'> {
    const stream = await this.#openSource();
    try {
      const claimed = await this.#claimLetters(stream);
      if (claimed !== 'fenced') {
        // Known before the first event is handed out: what somebody holds must not run because a process has died.
        const controls = await this.#config.offsets.controls.load(this.#config.name);
        return { stream, claimed, controls };
      }
      // Another process has taken over since.
      await stream.close();
      return 'lost';
    } catch (error) {
      await stream.close();
      throw error;
    }
  }

  async #claimLetters({ offset }: SourceStream): Promise<ClaimedLetters | 'fenced' | null> {
    const { deadLetters: store, name } = this.#config;
    if (store === undefined) return null;
    const fence = { pipeline: name, epoch: offset.epoch };
    const claimed = await store.claim(fence, offset.watermark);
    return claimed === 'fenced' ? 'fenced' : { store, fence, ...claimed };
  }

  async #openSource(): Promise<SourceStream> {
    const { source, offsets, name } = this.#config;
    return source.open({
      pipeline: name,
      load: () => offsets.load(name),
      claim: (seed) => offsets.claim(name, seed),
      standby: (owner) => {
        this.#become('standby');
        this.#log.info({ owner }, 'standing by: another process owns this pipeline');
        this.#sawWorking();
      },
      signal: this.#stopping.signal,
      log: this.#log,
    });
  }

  #sawWorking(): void {
    this.#seenWorking = true;
    this.#notOpened = null;
    this.#started?.();
  }

  /** The one setter of the state. */
  #become(next: PipelineState): void {
    const before = this.#state;
    if (before === 'stopped' || before === 'failed') return;
    const state =
      this.#stopping.signal.aborted && next !== 'stopped' && next !== 'failed' ? 'stopping' : next;
    this.#state = state;
    if (state !== before) {
      // The other states have a line with more to say.
      if (state === 'starting' || state === 'stopping') this.#log.info({}, state);
      tell('strandline:state:change', () => ({ ...this.#whose, state, before }));
    }
    this.#reporter.changed();
  }
}

/** JSON lines on stderr from `LOG_LEVEL` on; a level that pino does not know counts as info. */
function defaultLogger(): Logger {
  const asked = process.env['LOG_LEVEL']?.toLowerCase() ?? '';
  const level = asked === 'silent' || Object.hasOwn(pino.levels.values, asked) ? asked : 'info';
  return pino({ name: 'strandline', level }, pino.destination({ fd: 2, sync: true }));
}

/** Promise.withResolvers is not in Node 20. */
interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
}

function withResolvers(): PromiseWithResolvers<void> {
  let resolve: () => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
