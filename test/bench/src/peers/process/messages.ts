import type { PeerPlace, PeerReading, PeerTask } from '../peer.js';
import type { KindName } from './kinds.js';

/** Parent to child. */
export type ToPeer =
  | { readonly what: 'start'; readonly kind: KindName; readonly place: PeerPlace; readonly task: PeerTask }
  | { readonly what: 'stop' };

/** Child to parent. */
export type FromPeer =
  | { readonly what: 'ready' }
  | { readonly what: 'reading'; readonly reading: PeerReading }
  | { readonly what: 'failed'; readonly message: string };
