import type { InstanceReport } from '@strandline/core';
import { readInstanceDetails, type InstanceDetails } from '@strandline/pipeline';

/** A process of a pipeline, as the answer tells of it. */
export interface Instance extends Omit<InstanceReport, 'details' | 'reportedAt'> {
  /** Null when a version that this one does not understand has written them. */
  readonly details: InstanceDetails | null;
}

export interface Instances {
  readonly owner: Instance | null;
  readonly standbys: readonly Instance[];
  /** Those that come up or go, have failed, or are a former owner that does not know it yet. */
  readonly others: readonly Instance[];
}

/** @param epoch of the offset; null while there is none, or it can't be asked */
export function sortInstances(reports: readonly InstanceReport[], epoch: number | null): Instances {
  const all = reports.map(instanceOf).sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
  const owns = (one: Instance): boolean =>
    one.epoch !== null &&
    one.epoch >= (epoch ?? 0) &&
    (one.state === 'running' || (one.state === 'stopping' && (one.details?.source ?? null) !== null));
  const [owner = null] = all.filter(owns).sort((a, b) => (b.epoch ?? 0) - (a.epoch ?? 0));
  const standbys = all.filter(({ state }) => state === 'standby');
  return { owner, standbys, others: all.filter((one) => one !== owner && !standbys.includes(one)) };
}

function instanceOf({ id, host, pid, state, epoch, startedAt, details }: InstanceReport): Instance {
  return { id, host, pid, state, epoch, startedAt, details: readInstanceDetails(details) };
}
