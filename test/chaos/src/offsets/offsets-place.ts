import type { OffsetsChoice } from '@strandline/test-kit';
import type { SeatNetwork } from '../seat-network.js';

/** What of an offset is watched. */
export interface SavedOffset {
  readonly watermark: string;
  readonly epoch: number;
}

/** Where the pipeline's offset is kept, looked at past all faults of the network. */
export interface OffsetsPlace extends AsyncDisposable {
  /** Of Redis, for the networks before it; null for files. */
  readonly url: string | null;
  choice(network: SeatNetwork): OffsetsChoice;
  /** Null when there is none; rejects while the place is away. */
  look(): Promise<SavedOffset | null>;
}
