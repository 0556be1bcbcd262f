import type { PipelineStatus } from '@strandline/pipeline';

/** How one pipeline of this process is. */
export interface PipelineHealth {
  readonly pipeline: string;
  readonly state: PipelineStatus['state'];
  /** It owns the pipeline and can work, or could take over at once. */
  readonly ready: boolean;
  /** It gets on, or has nothing to do. */
  readonly advancing: boolean;
  /** Why it is not ready, or does not advance; empty otherwise. Counts and codes, never a key. */
  readonly reasons: readonly string[];
}

/**
 * How a pipeline is.
 *
 * @param standing milliseconds for which it had work and did nothing of it
 * @param stalledAfter milliseconds of that from which on it does not advance any more
 */
export function healthOf(status: PipelineStatus, standing: number, stalledAfter: number): PipelineHealth {
  const notReady = reasonsNotReady(status);
  const stalled = standing >= stalledAfter;
  return {
    pipeline: status.name,
    state: status.state,
    ready: notReady.length === 0,
    advancing: !stalled,
    reasons: [...notReady, ...(stalled ? reasonsStalled(status, standing) : [])],
  };
}

function reasonsNotReady(status: PipelineStatus): string[] {
  const { state, owned, source, offsetsAvailable, offsetsReached, notOpened } = status;
  if (state !== 'running' && state !== 'standby') return [`it is ${state}`];
  const offsets = offsetsReached ? [] : ['the offset store is out of reach'];
  // Who owns nothing has no source: whether it could have one is what the last try to open it has told.
  if (notOpened !== null) return [`it can not be opened (${notOpened}), and is tried again`, ...offsets];
  if (state === 'standby') return offsets;
  if (!owned) return ['it has lost the pipeline to another process, and is opened again', ...offsets];
  return [
    ...(source?.state === 'reconnecting' ? ['the source is out of reach, and tried again'] : []),
    ...(offsetsAvailable ? offsets : ['the offset can not be saved']),
  ];
}

function reasonsStalled(status: PipelineStatus, standing: number): string[] {
  const causes = [
    ...counted(status.stuckTurns.length, 'handler takes', 'handlers take', 'longer than handlerTimeout'),
    ...counted(status.running - status.stuckTurns.length, 'handler runs', 'handlers run'),
    ...counted(status.backoff, 'key is', 'keys are', 'tried again after failures'),
    ...counted(status.halted, 'key is', 'keys are', 'halted until retried'),
    ...counted(status.held, 'key is', 'keys are', 'held by an operator'),
    ...counted(status.exhausted, 'key waits', 'keys wait', 'to be stored as dead letters'),
    ...counted(
      status.fullKeys.length,
      'parked key has',
      'parked keys have',
      'no room in the dead-letter table',
    ),
    ...(status.lettersAvailable ? [] : ['the dead-letter table does not answer']),
    ...(status.paused === null ? [] : [PAUSED[status.paused]]),
  ];
  const span = `nothing was settled for ${String(Math.round(standing / 1_000))} s though there is work`;
  return [causes.length === 0 ? span : `${span}: ${causes.join(', ')}`];
}

/** That an operator wants it so is a reason, and no health: who pauses at three must not be forgotten at nine. */
const PAUSED: Readonly<Record<NonNullable<PipelineStatus['paused']>, string>> = {
  operator: 'an operator has paused the pipeline',
  window: 'the log is paused (window)',
  handlers: 'the log is paused (handlers)',
  key: 'the log is paused (key)',
  offsets: 'the log is paused (offsets)',
};

function counted(count: number, one: string, many: string, rest = ''): string[] {
  if (count <= 0) return [];
  return [`${String(count)} ${count === 1 ? one : many}${rest === '' ? '' : ` ${rest}`}`];
}
