import { describe, expect, test } from 'vitest';
import { Progress } from '../src/health/progress.js';
import { healthOf } from '../src/health/verdict.js';
import type { PipelineStatus } from '@strandline/pipeline';
import { looked } from './looked.js';

const STALLED_AFTER = 60_000;

/** For how long it has stood still after the last of these looks, a second apart. */
function standing(...looks: Parameters<typeof looked>[0][]): number {
  const progress = new Progress();
  looks.forEach((parts, index) => {
    progress.look(looked(parts), index * 1_000);
  });
  return progress.standing((looks.length - 1) * 1_000);
}

describe('progress', () => {
  const log = (lagBytes: number | null) => ({ state: 'streaming' as const, lagBytes, reconnects: 0 });
  test.each([
    ['idle', [{}, {}, {}], 0],
    ['events that are not settled', [{ unsettled: 2 }, { unsettled: 2 }, { unsettled: 2 }], 1_000],
    ['log that is not read', [{ source: log(9) }, { source: log(9) }, { source: log(9) }], 1_000],
    ['log of unknown length', [{ source: log(null) }, { source: log(null) }, { source: log(null) }], 0],
    ['something settles', [{ unsettled: 2 }, { unsettled: 2, settled: 1 }, { unsettled: 2, settled: 2 }], 0],
    ['the watermark moves', [{ unsettled: 1 }, { unsettled: 1, watermark: '0/2:0' }], 0],
    [
      'it moved, and stands',
      [{ unsettled: 1 }, { unsettled: 1, settled: 1 }, { unsettled: 1, settled: 1 }],
      0,
    ],
    ['a new ownership', [{ unsettled: 1 }, { unsettled: 1 }, { unsettled: 1, epoch: 2 }], 0],
    [
      'a standby has nothing to do',
      [
        { state: 'standby', unsettled: 1 },
        { state: 'standby', unsettled: 1 },
      ],
      0,
    ],
  ] as const)('%s', (_, looks, expected) => {
    expect(standing(...looks)).toBe(expected);
  });
});

describe('health', () => {
  test('a pipeline that runs or stands by is ready, and every other state is told', () => {
    expect(healthOf(looked(), 0, STALLED_AFTER)).toEqual({
      ...{ pipeline: 'orders', state: 'running', ready: true, advancing: true, reasons: [] },
    });
    expect(healthOf(looked({ state: 'standby', source: null }), 0, STALLED_AFTER).ready).toBe(true);
    for (const state of ['idle', 'starting', 'stopping', 'stopped', 'failed'] as const) {
      const health = healthOf(looked({ state }), 0, STALLED_AFTER);
      expect([health.ready, health.reasons]).toEqual([false, [`it is ${state}`]]);
    }
  });

  test('a source or a store that is away makes it not ready', () => {
    const source = { state: 'reconnecting', lagBytes: 0, reconnects: 1 } as const;
    expect(healthOf(looked({ source, offsetsAvailable: false }), 0, STALLED_AFTER)).toMatchObject({
      ready: false,
      reasons: ['the source is out of reach, and tried again', 'the offset can not be saved'],
    });
  });

  test('a standby is ready while it could take over: the store hears it, and it can be opened', () => {
    const standby = { state: 'standby', source: null } as const;
    const healthOfStandby = (parts: Partial<PipelineStatus>) =>
      healthOf(looked({ ...standby, ...parts }), 0, STALLED_AFTER);
    expect(healthOfStandby({ offsetsReached: false })).toMatchObject({
      ...{ ready: false, reasons: ['the offset store is out of reach'] },
    });
    for (const state of ['standby', 'running'] as const)
      expect(healthOfStandby({ state, owned: false, notOpened: 'PG_CONNECT' })).toMatchObject({
        ...{ ready: false, reasons: ['it can not be opened (PG_CONNECT), and is tried again'] },
      });
    expect(healthOfStandby({ state: 'running', owned: false })).toMatchObject({
      ...{ ready: false, reasons: ['it has lost the pipeline to another process, and is opened again'] },
    });
  });

  test('an owner that has nothing to save is not ready either while the store is away', () => {
    expect(healthOf(looked({ offsetsReached: false }), 0, STALLED_AFTER)).toMatchObject({
      ...{ ready: false, reasons: ['the offset store is out of reach'] },
    });
    // Once is enough.
    const status = looked({ offsetsReached: false, offsetsAvailable: false });
    expect(healthOf(status, 0, STALLED_AFTER).reasons).toEqual(['the offset can not be saved']);
  });

  test('what operators have ordered is a reason, and no health', () => {
    expect(
      healthOf(looked({ unsettled: 5, held: 2, paused: 'operator' }), 90_000, STALLED_AFTER),
    ).toMatchObject({
      advancing: false,
      reasons: [
        'nothing was settled for 90 s though there is work: 2 keys are held by an operator, ' +
          'an operator has paused the pipeline',
      ],
    });
  });

  test('alive and not advancing while there is work is not healthy, with the reason', () => {
    const status = looked({ unsettled: 5, running: 2, backoff: 1, halted: 3, paused: 'window' });
    expect(healthOf(status, STALLED_AFTER - 1, STALLED_AFTER).advancing).toBe(true);
    expect(healthOf(status, 61_400, STALLED_AFTER)).toMatchObject({
      ready: true,
      advancing: false,
      reasons: [
        'nothing was settled for 61 s though there is work: 2 handlers run, 1 key is tried again after failures, ' +
          '3 keys are halted until retried, the log is paused (window)',
      ],
    });
  });
});
