import { setTimeout as sleep } from 'node:timers/promises';
import type { TestOutbox } from '@strandline/test-kit';
import type { Timeline } from '../timeline.js';
import type { OffsetsPlace, SavedOffset } from './offsets-place.js';

const EVERY = 200;

/** Looks at the saved offset all the time: it must not go back. */
export class OffsetsWatch {
  readonly #place: OffsetsPlace;
  readonly #outbox: TestOutbox;
  readonly #timeline: Timeline;
  readonly #over = new AbortController();
  readonly #looking: Promise<void>;
  readonly #wentBack: { readonly at: number; readonly says: string }[] = [];
  #latest: SavedOffset | null = null;
  #looks = 0;
  /** Counts what may set an offset back. */
  #excuses = 0;

  constructor(place: OffsetsPlace, outbox: TestOutbox, timeline: Timeline) {
    this.#place = place;
    this.#outbox = outbox;
    this.#timeline = timeline;
    this.#looking = this.#watch();
  }

  /** As it was seen last; null when there was none. */
  get latest(): SavedOffset | null {
    return this.#latest;
  }

  get looks(): number {
    return this.#looks;
  }

  get wentBack(): readonly { readonly at: number; readonly says: string }[] {
    return this.#wentBack;
  }

  /** Somebody has thrown the offset away, or put an older one in its place: there is nothing to compare with. */
  forgive(): void {
    this.#excuses += 1;
    this.#latest = null;
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#looking;
  }

  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.look().catch(() => undefined); // away
      await sleep(EVERY, undefined, { signal: this.#over.signal }).catch(() => undefined);
    }
  }

  async look(): Promise<void> {
    const excuses = this.#excuses;
    const seen = await this.#place.look();
    if (excuses !== this.#excuses || seen === null) return;
    this.#looks += 1;
    const before = this.#latest;
    this.#latest = seen;
    if (before === null) return;
    if (seen.epoch !== before.epoch) this.#timeline.note(`epoch ${String(seen.epoch)}`);
    if (seen.epoch < before.epoch || this.#compare(seen, before) < 0) {
      const says = `the offset went back from ${text(before)} to ${text(seen)}`;
      this.#wentBack.push({ at: Date.now(), says });
      this.#timeline.note(says);
    }
  }

  #compare(a: SavedOffset, b: SavedOffset): number {
    return this.#outbox.comparePlaces(this.#outbox.placeOf(a.watermark), this.#outbox.placeOf(b.watermark));
  }
}

function text({ watermark, epoch }: SavedOffset): string {
  return `${watermark} of epoch ${String(epoch)}`;
}
