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

function reasonsNotReady({ state, source, offsetsAvailable }: PipelineStatus): string[] {
  if (state === 'standby') return [];
  if (state !== 'running') return [`it is ${state}`];
  return [
    ...(source?.state === 'reconnecting' ? ['the source is out of reach, and tried again'] : []),
    ...(offsetsAvailable ? [] : ['the offset can not be saved']),
  ];
}

function reasonsStalled(status: PipelineStatus, standing: number): string[] {
  const causes = [
    ...counted(status.stuckTurns.length, 'handler takes', 'handlers take', 'longer than handlerTimeout'),
    ...counted(status.running - status.stuckTurns.length, 'handler runs', 'handlers run'),
    ...counted(status.backoff, 'key is', 'keys are', 'tried again after failures'),
    ...counted(status.halted, 'key is', 'keys are', 'halted until a restart'),
    ...counted(status.exhausted, 'key waits', 'keys wait', 'to be stored as dead letters'),
    ...counted(
      status.fullKeys.length,
      'parked key has',
      'parked keys have',
      'no room in the dead-letter table',
    ),
    ...(status.lettersAvailable ? [] : ['the dead-letter table does not answer']),
    ...(status.paused === null ? [] : [`the log is paused (${status.paused})`]),
  ];
  const span = `nothing was settled for ${String(Math.round(standing / 1_000))} s though there is work`;
  return [causes.length === 0 ? span : `${span}: ${causes.join(', ')}`];
}

function counted(count: number, one: string, many: string, rest = ''): string[] {
  if (count <= 0) return [];
  return [`${String(count)} ${count === 1 ? one : many}${rest === '' ? '' : ` ${rest}`}`];
}
