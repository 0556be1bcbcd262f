import {
  StrandlineError,
  type LogState,
  type Offset,
  type OffsetChange,
  type Position,
  type ReplacedOffset,
} from '@strandline/core';
import { pipelineError } from '../errors.js';
import type { LogPlace } from '../replay/options.js';
import { inspect, locate, mustBeReachable } from './located.js';
import { mustNotRun } from './not-running.js';
import { completedAbove, moveOf, type OffsetMove } from './offset-move.js';
import { exportText, importText } from './offset-text.js';
import type { DeskParts } from './parts.js';
import { reachOf, UNKNOWN } from './reach.js';

/** A look at an offset, and at how far the log reaches. */
export interface OffsetView {
  /** Null when there is none: the pipeline never ran, or was reset. */
  readonly offset: Offset | null;
  /** What `undo` would put back. */
  readonly replaced: ReplacedOffset | null;
  /** Null when the log can't be looked at; `trouble` says why. */
  readonly log: OffsetLogView | null;
  readonly trouble: StrandlineError | null;
}

export interface OffsetLogView {
  readonly head: Position;
  /** The position after which everything can be read; null when nothing can. */
  readonly earliest: Position | null;
  /** Bytes of log from the watermark to the head; null when it can't be told. */
  readonly bytesBehind: number | null;
  /** Whether the log still has what follows the watermark; null when it can't be told. */
  readonly reachable: boolean | null;
}

/** Is told what a change would do, before it is done. To leave everything as it is, it throws. */
export type Review = (move: OffsetMove) => unknown;

/**
 * The offset of a pipeline, for an operator: from any process that has the pipeline's definition.
 *
 * What changes it throws `PIPELINE_RUNNING` while the pipeline runs or stands by anywhere, `PIPELINE_POSITION` for what
 * the log does not reach, `PIPELINE_OFFSET_MOVED` when somebody else was faster, and what offset store and source throw.
 * A process that runs unseen all the same is fenced. Each change keeps what was there, for `undo`.
 */
export interface OffsetDesk {
  show(): Promise<OffsetView>;
  /**
   * Everything up to the place counts as settled, and what follows is delivered, again if need be. Back, all of it;
   * forward, without what was handled already.
   */
  set(place: LogPlace | 'earliest' | 'now', review?: Review): Promise<OffsetMove>;
  /**
   * The pipeline becomes one that never ran: it begins as its source says. What the server keeps for it, such as a
   * replication slot, stays as it is. Throws `PIPELINE_NO_OFFSET`.
   */
  reset(review?: Review): Promise<OffsetMove>;
  /** Puts back what the last change has replaced; the next `undo` undoes that. Throws `PIPELINE_NO_OFFSET`. */
  undo(review?: Review): Promise<OffsetMove>;
  /** The offset as JSON, to keep it outside of the store. Throws `PIPELINE_NO_OFFSET`. */
  export(): Promise<string>;
  /** Puts an exported offset in place. Throws `PIPELINE_IMPORT`. */
  import(text: string, review?: Review): Promise<OffsetMove>;
}

export class NamedOffsetDesk implements OffsetDesk {
  readonly #parts: DeskParts;

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  async show(): Promise<OffsetView> {
    const { name, offsets } = this.#parts;
    const offset = await offsets.load(name);
    const replaced = await offsets.replaced(name);
    const { state, trouble } = await this.#look();
    return { offset, replaced, log: state && viewOf(offset, state), trouble };
  }

  async set(place: LogPlace | 'earliest' | 'now', review?: Review): Promise<OffsetMove> {
    await mustNotRun(this.#parts);
    const read = await this.#load();
    const state = await inspect(this.#parts);
    const { position, identity } = await locate(place, state, this.#parts);
    const completed = completedAbove(read, position, state);
    return this.#replace(read, { identity, watermark: position, completed }, state, review);
  }

  async reset(review?: Review): Promise<OffsetMove> {
    await mustNotRun(this.#parts);
    const read = await this.#load();
    if (read === null) throw this.#nothing('there is nothing to reset');
    return this.#replace(read, null, null, review);
  }

  async undo(review?: Review): Promise<OffsetMove> {
    await mustNotRun(this.#parts);
    const read = await this.#load();
    const replaced = await this.#parts.offsets.replaced(this.#parts.name);
    if (replaced === null) throw this.#nothing('no change of it is remembered that could be undone');
    const { offset } = replaced;
    return offset === null ? this.#replace(read, null, null, review) : this.#restore(read, offset, review);
  }

  async export(): Promise<string> {
    const offset = await this.#load();
    if (offset === null) throw this.#nothing('there is nothing to export');
    return exportText(this.#parts.name, offset);
  }

  async import(text: string, review?: Review): Promise<OffsetMove> {
    const change = importText(this.#parts.name, text);
    await mustNotRun(this.#parts);
    return this.#restore(await this.#load(), change, review);
  }

  async #restore(read: Offset | null, change: OffsetChange, review?: Review): Promise<OffsetMove> {
    const state = await inspect(this.#parts);
    const { watermark: position, identity } = change;
    await mustBeReachable({ position, identity }, state, this.#parts);
    return this.#replace(read, change, state, review);
  }

  async #replace(
    read: Offset | null,
    by: OffsetChange | null,
    state: LogState | null,
    review: Review = () => undefined,
  ): Promise<OffsetMove> {
    const { name, offsets } = this.#parts;
    const move = moveOf(read, by, state);
    await review(move);
    // Somebody may have thought about it for long.
    await mustNotRun(this.#parts);
    if ((await offsets.replace(name, read, by)) === 'replaced') return move;
    throw pipelineError(
      'PIPELINE_OFFSET_MOVED',
      `The offset of the pipeline ${name} was changed by somebody else meanwhile: nothing was done.`,
      'Look at it, and ask again if it is still what you want.',
    );
  }

  async #look(): Promise<Pick<OffsetView, 'trouble'> & { readonly state: LogState | null }> {
    try {
      return { state: await inspect(this.#parts), trouble: null };
    } catch (error) {
      if (!(error instanceof StrandlineError)) throw error;
      return { state: null, trouble: error };
    }
  }

  #load(): Promise<Offset | null> {
    return this.#parts.offsets.load(this.#parts.name);
  }

  #nothing(what: string): Error {
    return pipelineError(
      'PIPELINE_NO_OFFSET',
      `The pipeline ${this.#parts.name} has no offset like that: ${what}.`,
      'strandline offsets show tells what there is.',
    );
  }
}

function viewOf(offset: Offset | null, state: LogState): OffsetLogView {
  const { head, earliest } = state;
  const { bytes, reachable } = offset === null ? UNKNOWN : reachOf(offset.watermark, state);
  return { head, earliest, bytesBehind: bytes, reachable };
}
