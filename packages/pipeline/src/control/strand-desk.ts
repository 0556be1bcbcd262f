import { shortError } from '@strandline/core';
import type { Run } from '../run.js';
import { eventOf, letterViewOf, liveViewOf, NAMED_LETTERS, type KeyView } from '../report/key-view.js';
import { listStrands, type StrandList, type StrandQuery } from '../report/strand-list.js';
import type { PipelineDesk } from '../letters/desk.js';
import { notOwner, type ControlParts } from './control-desk.js';
import type { Happenings } from './happenings.js';
import { unknownEvent } from './interventions.js';

/** Characters of a payload that are shown. */
const SHOWN = 16 * 1024;
const MOST_SHOWN = 1024 * 1024;

/** The payload of an event that waits. */
export interface PayloadView {
  /** Its exact text, or the beginning of it; null when the event has none. */
  readonly text: string | null;
  /** Characters that the whole text has. */
  readonly length: number;
  readonly cut: boolean;
}

export interface StrandDeskParts extends ControlParts {
  readonly happenings: Happenings;
  readonly deadLetters: PipelineDesk | null;
}

/** What can be seen of a pipeline's keys, from the process that works on it. */
export class StrandDesk {
  readonly #parts: StrandDeskParts;

  constructor(parts: StrandDeskParts) {
    this.#parts = parts;
  }

  async list(query: StrandQuery): Promise<StrandList> {
    return listStrands(await this.#owned(), query);
  }

  async key(key: string): Promise<KeyView> {
    const { name, offsets, happenings } = this.#parts;
    const run = this.#parts.run();
    const [controls, letters] = await Promise.all([
      // The owner knows them, also while the store is away.
      run?.orders?.controls ?? offsets.controls.load(name),
      this.#lettersOf(key),
    ]);
    const live = run === null ? { strand: null, waiting: [], parked: null } : liveViewOf(run, key);
    return {
      ...{ key, owned: run !== null, ...live, ...letters },
      held: controls.held.find((one) => one.key === key) ?? null,
      paused: controls.paused,
      happenings: happenings.of(key),
    };
  }

  async payload(key: string, position: string, limit = SHOWN): Promise<PayloadView> {
    const run = await this.#owned();
    const event = eventOf(run, key, position);
    if (event === null) throw unknownEvent(key, position);
    const text = event.payloadText;
    if (text === null) return { text, length: 0, cut: false };
    const shown = text.slice(0, Math.max(0, Math.min(limit, MOST_SHOWN)));
    return { text: shown, length: text.length, cut: shown.length < text.length };
  }

  async #lettersOf(key: string): Promise<Pick<KeyView, 'letters' | 'lettersError'>> {
    const { deadLetters } = this.#parts;
    if (deadLetters === null) return { letters: null, lettersError: null };
    try {
      const letters = await deadLetters.list({ key }, { limit: NAMED_LETTERS });
      return { letters: letters.map(letterViewOf), lettersError: null };
    } catch (error) {
      return { letters: null, lettersError: shortError(error) };
    }
  }

  async #owned(): Promise<Run> {
    return this.#parts.run() ?? Promise.reject(await notOwner(this.#parts));
  }
}
