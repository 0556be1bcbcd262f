import { describe, expect, it } from 'vitest';
import { PermanentError } from '../src/errors.js';
import { Executor, type ExecutorOptions } from '../src/executor.js';
import type { Strand } from '../src/strand.js';
import { event, executorOptions, position } from './fixtures.js';

/** An executor that has admitted one event per letter. */
function admitted(keys: string, overrides: Partial<ExecutorOptions> = {}): Executor {
  const executor = new Executor(executorOptions(overrides));
  Array.from(keys).forEach((key, n) => {
    executor.admit(event(key, n));
  });
  return executor;
}

function strandOf(executor: Executor, key: string): Strand {
  const strand = executor.strandOf(key);
  if (strand === undefined) throw new Error(`the key ${key} has no strand`);
  return strand;
}

function take(executor: Executor): Strand {
  const strand = executor.take();
  if (strand === null) throw new Error('the executor had nothing to take');
  return strand;
}

/** Runs all that may run, with success; tells the ids. */
function runAll(executor: Executor): string[] {
  const ids: string[] = [];
  for (let strand = executor.take(); strand !== null; strand = executor.take()) {
    ids.push(...strand.inFlightEvents().map(({ id }) => id));
    executor.succeed(strand);
  }
  return ids;
}

describe('a held key', () => {
  it('takes no turn, and other keys go on', () => {
    const executor = admitted('abab');
    executor.hold(['a']);
    expect(runAll(executor)).toEqual(['1', '3']);
    expect(executor.counts()).toMatchObject({ held: 1, unsettled: 2, strands: 1 });
    expect(executor.watermark).toBe('start');
    executor.release(['a']);
    expect(runAll(executor)).toEqual(['0', '2']);
    expect(executor.watermark).toBe(position(3));
  });

  it('may have no events yet: what comes of it waits in order', () => {
    const executor = new Executor(executorOptions());
    executor.hold(['a', 'b']);
    expect([executor.holds, executor.counts().held]).toEqual([2, 0]);
    for (let n = 0; n < 3; n += 1) executor.admit(event('a', n));
    expect([executor.take(), executor.ready, executor.counts().held]).toEqual([null, 0, 1]);
    executor.release(['a']);
    expect(runAll(executor)).toEqual(['0', '1', '2']);
  });

  it('lets the turn end that runs, and stands then', () => {
    const executor = admitted('aa');
    const strand = take(executor);
    executor.hold(['a']);
    expect(strand.state).toBe('running');
    executor.succeed(strand);
    expect([strand.state, strand.length, executor.take()]).toEqual(['held', 1, null]);
  });

  it('keeps the attempts of a head that has failed, and tries it at once when it is released', () => {
    const executor = admitted('aa');
    executor.fail(take(executor), 'no', 0);
    executor.hold(['a']);
    expect(executor.wake(1e9)).toBeNull();
    expect(strandOf(executor, 'a')).toMatchObject({ state: 'held', attempt: 1, dueAt: NaN });
    executor.release(['a']);
    const again = take(executor);
    expect([again.attempt, again.head.event.id]).toEqual([2, '0']);
    executor.hold(['a']);
    expect(executor.fail(again, 'no', 1)).toEqual({ outcome: 'held' });
    expect(again).toMatchObject({ state: 'held', attempt: 2, lastError: 'no' });
  });

  it('stays held when its head was skipped, when it is live again, and when a batch is narrowed', () => {
    const executor = admitted('aaa', { batch: 2 });
    executor.hold(['a']);
    const strand = strandOf(executor, 'a');
    expect(executor.giveUp(strand)).toBe(true);
    executor.skip(strand);
    expect([strand.state, strand.length]).toEqual(['held', 2]);
    executor.release(['a']);
    executor.fail(take(executor), new PermanentError('no'), 0);
    executor.hold(['a']);
    expect(executor.narrow(strand)).toBe(true);
    expect(strand.state).toBe('held');

    executor.divert('b');
    executor.admit(event('b', 3));
    executor.hold(['b']);
    executor.unpark('b');
    expect([strandOf(executor, 'b').state, executor.take()]).toEqual(['held', null]);
  });

  it('is held once, however often it is asked for, and goes on when it is released once', () => {
    const executor = admitted('a');
    executor.hold(['a', 'a']);
    executor.hold(['a']);
    executor.release(['b']);
    expect(executor.counts().held).toBe(1);
    executor.release(['a']);
    executor.release(['a']);
    expect(runAll(executor)).toEqual(['0']);
  });
});

describe('a paused executor', () => {
  it('starts no turn, lets those end that run, and goes on', () => {
    const executor = admitted('aab', { concurrency: 1 });
    const strand = take(executor);
    executor.pause(true);
    executor.succeed(strand);
    executor.limit(5, 1);
    expect([executor.isPaused, executor.take()]).toEqual([true, null]);
    executor.admit(event('c', 3));
    executor.pause(false);
    expect([executor.isPaused, runAll(executor)]).toEqual([false, ['2', '1', '3']]);
  });
});

describe('an operator', () => {
  it('has a head in backoff tried at once, as its next attempt', () => {
    const executor = admitted('ab');
    executor.fail(take(executor), 'no', 0);
    const strand = strandOf(executor, 'a');
    expect([executor.tryNow(strand), executor.tryNow(strandOf(executor, 'b'))]).toEqual([true, false]);
    expect(executor.ready).toBe(1);
    take(executor);
    expect([take(executor).attempt, executor.counts().backoff]).toEqual([2, 0]);
  });

  it('has a halted head tried afresh, with all its attempts', () => {
    const executor = admitted('a');
    const strand = take(executor);
    executor.fail(strand, new PermanentError('no'), 0);
    expect(executor.tryAfresh(strand)).toBe(false);
    executor.halt(strand);
    expect(executor.tryAfresh(strand)).toBe(true);
    expect([take(executor).attempt, strand.firstFailedAt]).toEqual([1, NaN]);
    expect(executor.counts()).toMatchObject({ halted: 0, running: 1 });
  });

  it('gives up what waits, and nothing that runs or is being stored', () => {
    const executor = admitted('aab');
    const strand = take(executor);
    expect(executor.giveUp(strand)).toBe(false);
    executor.fail(strand, 'no', 0);
    expect(executor.giveUp(strand)).toBe(true);
    expect(executor.giveUp(strand)).toBe(false);
    expect(executor.counts()).toMatchObject({ exhausted: 1, backoff: 0 });
    executor.takeBack(strand);
    expect(executor.counts()).toMatchObject({ exhausted: 0 });
    expect(runAll(executor)).toEqual(['2', '0', '1']);
  });

  it('gives up the head of a failed batch, and not what was in flight with it', () => {
    const executor = admitted('aaa', { batch: 3 });
    executor.fail(take(executor), 'no', 0);
    const strand = strandOf(executor, 'a');
    executor.giveUp(strand);
    executor.skip(strand);
    expect([strand.length, executor.watermark, runAll(executor)]).toEqual([2, position(0), ['1', '2']]);
  });

  it('takes back what could not be stored: what follows is behind its head again', () => {
    const executor = admitted('aa');
    const strand = strandOf(executor, 'a');
    executor.giveUp(strand);
    executor.holdHead(strand);
    executor.admit(event('a', 2));
    executor.unholdHead(strand);
    executor.takeBack(strand);
    expect([executor.isParked('a'), runAll(executor)]).toEqual([false, ['0', '1', '2']]);
  });
});
