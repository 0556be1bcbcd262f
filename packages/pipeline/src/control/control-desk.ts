import type { Controls, HeldKey, OffsetStore, Order } from '@strandline/core';
import { pipelineError, type PipelineError } from '../errors.js';
import type { Run } from '../run.js';
import { changeControls, type Edit } from './change-controls.js';
import type { Intervention, InterventionOptions } from './interventions.js';
import { checkKey, orderOf, withHeld, withoutHeld, type OrderOptions } from './orders.js';

/** What became of an order. */
export interface Ordered {
  /** False when it was so before: then what was ordered first stays. */
  readonly changed: boolean;
  /** Whether this process works on the pipeline, and obeys already; elsewhere the owner does within about a second. */
  readonly here: boolean;
}

/**
 * What an operator can do to a pipeline while it runs. Holds and the pause are kept in the offset store: they can be
 * ordered from any process that has the pipeline's definition, and outlast restarts and take-overs. Whoever takes the
 * pipeline knows them before it calls a handler. `retry`, `park` and `skip` are about live events, and work in the
 * process that has them. A handler that runs is never interrupted.
 *
 * Errors: those of the offset store, `PIPELINE_CONTROL` for what is too long or too much, `PIPELINE_CONTROLS_MOVED`.
 */
export interface ControlDesk {
  /** What is ordered, as the offset store has it. */
  controls(): Promise<Controls>;
  /** No handler starts any more, live or of letters; the log is read only as far as the window takes. */
  pause(options?: OrderOptions): Promise<Ordered & { readonly paused: Order }>;
  /** Tells who had paused it; null when nobody had. */
  resume(): Promise<Ordered & { readonly was: Order | null }>;
  /**
   * The key's events wait, in order, and its letters too, until somebody releases it; other keys go on. It need not have
   * any yet. Its live events have places in the window and hold the log meanwhile: park the key to free these.
   */
  hold(key: string, options?: OrderOptions): Promise<Ordered & { readonly held: HeldKey }>;
  /** The key goes on where it stands. Tells who had held it; null when nobody had. */
  release(key: string): Promise<Ordered & { readonly was: HeldKey | null }>;
  /**
   * The head of a key in backoff is tried at once; that of a halted key is tried anew with all its attempts, so no
   * restart is needed. Throws `PIPELINE_KEY_UNKNOWN`, `PIPELINE_KEY_STATE` when there is nothing to retry, and
   * `PIPELINE_NOT_OWNER`.
   */
  retry(key: string, options?: Pick<InterventionOptions, 'position'>): Promise<Intervention>;
  /**
   * The head, and all that follows of the key, goes to the dead-letter table, in order, and waits there for somebody;
   * whatever the key does, as long as its handler does not run: that is waited for. Throws what `retry` throws,
   * `PIPELINE_KEY_BUSY`, `PIPELINE_NO_LETTERS` and `PIPELINE_LETTERS_FULL`.
   */
  park(key: string, options?: InterventionOptions): Promise<Intervention>;
  /** The head alone goes to the dead-letter table, and the key goes on. Throws what `park` throws. */
  skip(key: string, options?: InterventionOptions): Promise<Intervention>;
}

export interface ControlParts {
  readonly name: string;
  readonly offsets: OffsetStore;
  /** The run of this process, while it works on the pipeline. */
  run(): Run | null;
}

export class NamedControlDesk implements ControlDesk {
  readonly #parts: ControlParts;

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  async controls(): Promise<Controls> {
    const { name, offsets } = this.#parts;
    return offsets.controls.load(name);
  }

  async pause(options: OrderOptions = {}): Promise<Ordered & { readonly paused: Order }> {
    const order = orderOf(options);
    let paused = order;
    const { changed, here } = await this.#change((read) => {
      paused = read.paused ?? order;
      return read.paused === null ? { paused: order, held: read.held } : null;
    });
    return { paused, changed, here };
  }

  async resume(): Promise<Ordered & { readonly was: Order | null }> {
    let was: Order | null = null;
    const { changed, here } = await this.#change(({ paused, held }) => {
      was = paused;
      return paused === null ? null : { paused: null, held };
    });
    return { was, changed, here };
  }

  async hold(key: string, options: OrderOptions = {}): Promise<Ordered & { readonly held: HeldKey }> {
    checkKey(key);
    const order = { key, ...orderOf(options) };
    let held: HeldKey = order;
    const { changed, here } = await this.#change((read) => {
      const known = read.held.find((one) => one.key === key);
      held = known ?? order;
      return known === undefined ? withHeld(read, order) : null;
    });
    return { held, changed, here };
  }

  async release(key: string): Promise<Ordered & { readonly was: HeldKey | null }> {
    let was: HeldKey | null = null;
    const { changed, here } = await this.#change((read) => {
      was = read.held.find((one) => one.key === key) ?? null;
      return was === null ? null : withoutHeld(read, key);
    });
    return { was, changed, here };
  }

  async retry(key: string, options: Pick<InterventionOptions, 'position'> = {}): Promise<Intervention> {
    return (await this.#owned()).interventions.retry(key, options);
  }

  async park(key: string, options: InterventionOptions = {}): Promise<Intervention> {
    return (await this.#owned()).interventions.park(key, options);
  }

  async skip(key: string, options: InterventionOptions = {}): Promise<Intervention> {
    return (await this.#owned()).interventions.skip(key, options);
  }

  /** The run of this process. Throws `PIPELINE_NOT_OWNER`. */
  async #owned(): Promise<Run> {
    return this.#parts.run() ?? Promise.reject(await notOwner(this.#parts));
  }

  async #change(edit: Edit): Promise<Ordered> {
    const { name, offsets } = this.#parts;
    const orders = this.#parts.run()?.orders ?? null;
    let changed = false;
    const noted: Edit = (read) => {
      const by = edit(read);
      changed = by !== null;
      return by;
    };
    if (orders === null) await changeControls(offsets.controls, name, noted);
    else await orders.change(noted);
    return { changed, here: orders !== null };
  }
}

/** Says which process works on the pipeline, if one tells. */
export async function notOwner({ name, offsets }: ControlParts): Promise<PipelineError> {
  const reports = await offsets.instances.list(name).catch(() => []);
  const running = reports.filter(({ state }) => state === 'running');
  const [owner] = running.sort((a, b) => (b.epoch ?? 0) - (a.epoch ?? 0));
  const where =
    owner === undefined
      ? 'no process says that it does'
      : `process ${String(owner.pid)} on ${owner.host} does`;
  return pipelineError(
    'PIPELINE_NOT_OWNER',
    `This process does not work on the pipeline ${name}: ${where}. Live events are known there only.`,
    'Ask in that process. Holding and releasing keys and pausing work from any process.',
  );
}
