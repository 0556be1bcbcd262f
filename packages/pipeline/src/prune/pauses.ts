import type { ReplicaLag, ServerLoad } from '@strandline/core';
import type { PruneConfig } from './options.js';

/** Why it pauses: `replicas` lag, the server is `busy`, rows or the table are in use (`locked`). */
export type PauseKind = 'replicas' | 'busy' | 'locked';

export interface PrunePause {
  readonly kind: PauseKind;
  readonly why: string;
}

export type LoadLimits = Pick<PruneConfig, 'replicaLag' | 'activeSessions'>;

/** What of the server's load stands against deleting now; null when nothing does. */
export function pauseFor({ active, replicas }: ServerLoad, limits: LoadLimits): PrunePause | null {
  for (const replica of replicas) {
    const why = lagging(replica, limits.replicaLag);
    if (why !== null) return { kind: 'replicas', why };
  }
  if (active <= limits.activeSessions) return null;
  const why = `${String(active)} sessions are at work, more than ${String(limits.activeSessions)}`;
  return { kind: 'busy', why };
}

function lagging({ name, time, bytes }: ReplicaLag, limits: LoadLimits['replicaLag']): string | null {
  // A replica of which nothing is known may be any distance behind.
  if (time === null && bytes === null) return `the replica ${name} does not say how far it is`;
  if (bytes !== null && bytes > limits.bytes) return `the replica ${name} is ${String(bytes)} bytes behind`;
  if (time !== null && time > limits.time)
    return `the replica ${name} is ${String(Math.round(time))} ms behind`;
  return null;
}
