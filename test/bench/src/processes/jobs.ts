import type { BareWaitsSettings } from '../readers/bare-waits.js';
import type { LiveKeysReading, LiveKeysSettings } from '../readers/live-keys.js';
import type { NotingSettings } from '../readers/noting.js';
import type { Reading, ReaderSettings } from '../readers/reading.js';
import type { ReleasingReading, ReleasingSettings } from '../readers/releasing.js';
import type { StrandlineReading, StrandlineSettings } from '../readers/strandline.js';
import type { TroubledSettings } from '../readers/troubled.js';
import type { WriterSettings, Writing } from '../writer/paced-writer.js';

/** What a process can be started for, with what it is told and what it answers. */
export interface Jobs {
  readonly strandline: { readonly settings: StrandlineSettings; readonly result: StrandlineReading };
  readonly troubled: { readonly settings: TroubledSettings; readonly result: Reading };
  readonly releasing: { readonly settings: ReleasingSettings; readonly result: ReleasingReading };
  readonly liveKeys: { readonly settings: LiveKeysSettings; readonly result: LiveKeysReading };
  readonly noting: { readonly settings: NotingSettings; readonly result: unknown };
  readonly bare: { readonly settings: ReaderSettings; readonly result: Reading };
  readonly bareWaits: { readonly settings: BareWaitsSettings; readonly result: Reading };
  readonly writer: { readonly settings: WriterSettings; readonly result: Writing };
}

export type JobName = keyof Jobs;

/** Parent to child, once. */
export type Order = {
  [Name in JobName]: { readonly job: Name; readonly settings: Jobs[Name]['settings'] };
}[JobName];

/** Child to parent. */
export type Report =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly message: string };
