import type { Crew } from './crew.js';
import type { ChaosDatabase } from './databases/chaos-database.js';
import type { RedisPlace } from './offsets/redis-place.js';
import type { OffsetsWatch } from './offsets/offsets-watch.js';
import type { SeatNetwork } from './seat-network.js';

/** What faults are done to. */
export interface World {
  readonly crew: Crew;
  readonly database: ChaosDatabase;
  /** By seat. */
  readonly networks: readonly SeatNetwork[];
  /** Null where offsets are in files. */
  readonly redis: RedisPlace | null;
  readonly watch: OffsetsWatch;
  /** Reads what has committed so far: before the log of it goes. */
  readonly readCommitted: () => Promise<unknown>;
}
