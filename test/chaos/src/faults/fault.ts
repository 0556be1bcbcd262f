import type { Random } from '@strandline/test-kit';
import type { Setup } from '../setup.js';
import type { World } from '../world.js';

/** What a fault is done to: at the same thing one strikes after the other. */
export type Victim = 'owner' | 'process' | 'database' | 'redis' | 'network' | 'disk';

/** Something that goes wrong, and comes right again. */
export interface Fault {
  readonly name: string;
  readonly victim: Victim;
  /** How often it is drawn, beside the others. */
  readonly weight: number;
  /** Codes of errors that a process may end with because of it; whoever runs it starts it again. */
  readonly excuses: readonly string[];
  applies(setup: Setup): boolean;
  /**
   * Strikes, and undoes it. All that is drawn is drawn before the first wait.
   *
   * @param say what is done, for the timeline
   */
  strike(world: World, random: Random, say: (what: string) => void): Promise<void>;
}

/** A start needs its servers: a process that finds them gone ends with this, and is started again. */
export const UNREACHABLE: readonly string[] = ['PG_UNREACHABLE', 'MYSQL_UNREACHABLE', 'LETTERS_UNAVAILABLE'];
export const OFFSETS_AWAY: readonly string[] = ['OFFSETS_UNAVAILABLE'];

export function always(): boolean {
  return true;
}
