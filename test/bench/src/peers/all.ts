import { debezium } from './debezium/debezium-peer.js';
import type { Peer } from './peer.js';
import { ProcessPeer } from './process/process-peer.js';

/** What Strandline is compared with, in speed and in what becomes of order and completeness. */
export const ALL_PEERS: readonly Peer[] = [
  new ProcessPeer('pg-transactional-outbox'),
  new ProcessPeer('pg-transactional-outbox-per-key'),
  new ProcessPeer('graphile-worker'),
  new ProcessPeer('pg-boss'),
  new ProcessPeer('skip-locked-keys'),
  new ProcessPeer('skip-locked'),
  new ProcessPeer('id-cursor'),
  debezium(),
];

/** And variants that differ in their speed alone. */
export const PEERS_FOR_SPEED: readonly Peer[] = [...ALL_PEERS, new ProcessPeer('skip-locked-row')];
