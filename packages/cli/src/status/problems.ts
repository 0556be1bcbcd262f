import type { Order } from '@strandline/core';
import type { InstanceDetails } from '@strandline/pipeline';
import { orderText } from '../control/answers.js';
import { amount } from '../text.js';
import type { Instance, Instances } from './instances.js';
import type { Unasked } from './looked.js';

/** What is known of a pipeline, as far as problems show in it. */
interface Known extends Instances {
  readonly pausedBy: Order | null;
  readonly heldKeys: { readonly count: number } | null;
  /** Null when there is none. */
  readonly offset: unknown;
  readonly unasked: readonly Unasked[];
}

const PLACES: Readonly<Record<Unasked['place'], string>> = {
  offsets: 'the offset store',
  source: 'the source',
  deadLetters: 'the dead-letter table',
};

/**
 * What needs somebody: each makes the exit code 1. Keys that are parked or tried again are what the policy is for, and
 * a full window is how work is bounded: these are told, and no problem.
 */
export function problemsOf(report: Known): string[] {
  const { owner, unasked, pausedBy, heldKeys } = report;
  return [
    ...unasked.map(
      ({ place, code, message }) =>
        `${PLACES[place]} can't be asked: ${code === null ? '' : `${code}: `}${message}`,
    ),
    ...(pausedBy === null ? [] : [`it is paused ${orderText(pausedBy)}. strandline resume ends that`]),
    ...(heldKeys === null || heldKeys.count === 0
      ? []
      : [`${amount(heldKeys.count, 'key')} held: what comes of them holds the log. strandline keys release`]),
    ...(owner === null ? ownerless(report) : problemsOfOwner(owner)),
  ];
}

function ownerless({ unasked, standbys, others, offset }: Known): string[] {
  // Nobody knows, then.
  if (unasked.some(({ place }) => place === 'offsets')) return [];
  const failed = others.filter(({ state }) => state === 'failed');
  return [
    ...failed.map(
      ({ host, pid, details }) => `it has failed on ${host} (pid ${String(pid)})${withError(details)}`,
    ),
    standbys.length > 0
      ? 'no owner reports here, though others stand by: it is cut off from the offset store, or gone since a moment'
      : `no process runs it${offset === null ? ', and none ever has' : ''}`,
  ];
}

function problemsOfOwner({ details }: Instance): string[] {
  if (details === null) return ['its owner is of a version whose report this one can not read'];
  const { halted, full, offsetsAvailable, lettersAvailable, source } = details;
  return [
    ...(halted > 0
      ? [`${amount(halted, 'key')} halted: they hold the log. Correct the cause, and retry or restart`]
      : []),
    ...(full > 0
      ? [`the dead-letter table has no room for ${amount(full, 'key')}: they hold the log until it has`]
      : []),
    ...(offsetsAvailable ? [] : ['the owner can not reach the offset store']),
    ...(lettersAvailable ? [] : ['the owner can not reach the dead-letter table']),
    ...(source?.state === 'reconnecting' ? ['the owner can not reach the source, and tries again'] : []),
  ];
}

function withError(details: Instance['details']): string {
  const error = details?.error ?? null;
  return error === null ? '' : `: ${errorText(error)}`;
}

export function errorText({ name, code, message }: NonNullable<InstanceDetails['error']>): string {
  return `${name}${code === null ? '' : ` ${code}`}${message === '' ? '' : `: ${message}`}`;
}
