import { waitUntil } from '@strandline/test-kit';
import { deadLetterDesk, type DeadLetterDesk } from 'strandline';
import type { Crew } from './crew.js';
import type { ChaosDatabase } from './databases/chaos-database.js';
import { BROKEN } from './load/broken.js';
import { PIPELINE } from './names.js';
import type { RedisPlace } from './offsets/redis-place.js';
import type { OffsetsWatch } from './offsets/offsets-watch.js';
import type { Timeline } from './timeline.js';

/** Who does what the pipeline's errors ask for: mends, releases parked keys, puts a lost offset back. */
export class Operator {
  readonly #timeline: Timeline;
  readonly #desk: DeadLetterDesk | null;
  #hasMended = false;
  #released = 0;
  #putBack = 0;

  constructor(database: ChaosDatabase, letters: boolean, timeline: Timeline) {
    this.#timeline = timeline;
    this.#desk = letters ? deadLetterDesk(database.lettersAt(database.url)) : null;
  }

  get counts(): { readonly released: number; readonly putBack: number } {
    return { released: this.#released, putBack: this.#putBack };
  }

  /** Payloads of the events that fail for good now. */
  get broken(): readonly string[] {
    return this.#desk === null || this.#hasMended ? [] : BROKEN;
  }

  /** From now on nothing fails for good any more. */
  mend(crew: Crew): void {
    if (this.#hasMended) return;
    this.#hasMended = true;
    this.#timeline.note('what the broken events need is mended');
    for (const { process } of crew.alive) process.break([]);
  }

  /** Lets go what is parked; the number of keys that were. A server that is away has none that can be. */
  async release(): Promise<number> {
    try {
      const keys = (await this.#desk?.retry(PIPELINE, {})) ?? [];
      this.#released += keys.length;
      if (keys.length > 0) this.#timeline.note(`released: ${keys.join(', ')}`);
      return keys.length;
    } catch {
      return 0;
    }
  }

  /** Letters that are there yet. */
  async waiting(): Promise<number> {
    return (await this.#desk?.counts(PIPELINE))?.waiting ?? 0;
  }

  /** The offset got lost, and the source can't go on without: back to what was exported last. */
  async putOffsetBack(redis: RedisPlace | null, watch: OffsetsWatch): Promise<void> {
    if (redis === null) return;
    const isDone = await waitUntil('the offset is put back', async () => {
      try {
        return { putBack: await redis.putBack() };
      } catch {
        return null; // Redis is away
      }
    });
    watch.forgive();
    if (!isDone.putBack) return;
    this.#putBack += 1;
    this.#timeline.note('the offset is put back, as it was exported last');
  }

  async close(): Promise<void> {
    await this.#desk?.close();
  }
}
