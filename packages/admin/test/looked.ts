import type { PipelineStatus } from '@strandline/pipeline';

/** A pipeline that runs, has nothing to do, and lacks nothing. */
export function looked(parts: Partial<PipelineStatus> = {}): PipelineStatus {
  return {
    ...{
      name: 'orders',
      state: 'running',
      owned: true,
      paused: null,
      watermark: '0/1:0',
      savedWatermark: '0/1:0',
      unsaved: 0,
    },
    ...{ offsetsReached: true, notOpened: null },
    ...{ epoch: 1, offsetsAvailable: true, source: { state: 'streaming', lagBytes: 0, reconnects: 0 } },
    ...{
      stuckTurns: [],
      releasing: [],
      fullKeys: [],
      lettersAvailable: true,
      suspecting: false,
      prune: null,
    },
    ...{ window: { events: 10_000, bytes: 67_108_864 }, settledBefore: null, oldestCommit: null },
    ...{
      unsettled: 0,
      bytes: 0,
      strands: 0,
      running: 0,
      stuck: 0,
      backoff: 0,
      exhausted: 0,
      halted: 0,
      held: 0,
    },
    ...{ parked: 0, settled: 0 },
    ...parts,
  };
}
