import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InstanceReporter } from '../src/report/instance-reporter.js';
import { FakeInstances, gate, keptLog } from './fixtures.js';

const away = new Error('the store is away');

function make() {
  const register = new FakeInstances();
  const kept = keptLog();
  let state = 'starting';
  const reporter = new InstanceReporter({
    register,
    pipeline: 'shop',
    log: kept.log,
    look: () => ({ state, epoch: null, details: { some: 'details' } }),
  });
  return {
    register,
    kept,
    reporter,
    become: (next: string) => {
      state = next;
      reporter.changed();
    },
  };
}

describe('a process of a pipeline', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('tells who it is at once and every second, and is forgotten some seconds after it said nothing', async () => {
    const { register, reporter } = make();
    reporter.start();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(register.reports).toHaveLength(4);
    const [first, second] = register.reports;
    expect(first).toMatchObject({ pid: process.pid, state: 'starting', details: { some: 'details' } });
    expect(second?.id).toBe(first?.id);
    expect(second?.startedAt).toBe(first?.startedAt);
    expect(second?.reportedAt).not.toBe(first?.reportedAt);
    expect(new Set(register.ttls)).toEqual(new Set([5_000]));
    await reporter.end('left');
    expect(register.left).toEqual([first?.id]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(register.reports).toHaveLength(4);
  });

  it('tells a change at once', async () => {
    const { register, reporter, become } = make();
    reporter.start();
    await vi.advanceTimersByTimeAsync(0);
    become('standby');
    await vi.advanceTimersByTimeAsync(0);
    become('running');
    await vi.advanceTimersByTimeAsync(0);
    expect(register.states).toEqual(['starting', 'standby', 'running']);
    await reporter.end('left');
  });

  it('has one report under way at most, and the change that came meanwhile follows it', async () => {
    const { register, reporter, become } = make();
    const slow = gate();
    register.answer = () => slow.promise;
    reporter.start();
    become('standby');
    become('running');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(register.states).toEqual(['starting']);
    slow.open();
    await vi.advanceTimersByTimeAsync(0);
    expect(register.states).toEqual(['starting', 'running']);
    await reporter.end('left');
  });

  it('lets a report be missing while the store is away, and goes on', async () => {
    const { register, reporter, kept } = make();
    register.answer = () => Promise.reject(away);
    reporter.start();
    expect(reporter.isHeard).toBe(true);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(reporter.isHeard).toBe(false);
    register.answer = () => Promise.resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(reporter.isHeard).toBe(true);
    expect(register.reports).toHaveLength(4);
    expect(new Set(kept.lines.map(({ level }) => level))).toEqual(new Set(['debug']));
    await reporter.end('left');
  });

  it('does not try to say good-bye to a store that is away', async () => {
    const { register, reporter } = make();
    register.answer = () => Promise.reject(away);
    reporter.start();
    await reporter.end('left');
    expect(register.left).toEqual([]);
  });

  it('leaves after the report that is under way, which would make it come back', async () => {
    const { register, reporter } = make();
    reporter.start();
    await vi.advanceTimersByTimeAsync(0);
    const slow = gate();
    register.answer = () => slow.promise;
    reporter.changed();
    const ended = reporter.end('left');
    await vi.advanceTimersByTimeAsync(0);
    expect(register.left).toEqual([]);
    slow.open();
    await ended;
    expect(register.left).toHaveLength(1);
  });

  it('is not held up by a store that says nothing', async () => {
    const { register, reporter } = make();
    reporter.start();
    await vi.advanceTimersByTimeAsync(0);
    register.answer = () => new Promise(() => undefined);
    reporter.changed();
    const ended = reporter.end('left');
    await vi.advanceTimersByTimeAsync(1_000);
    await ended;
  });

  it('stays to be seen for a minute when it has failed', async () => {
    const { register, reporter, become } = make();
    reporter.start();
    await vi.advanceTimersByTimeAsync(0);
    become('failed');
    await reporter.end('failed');
    expect(register.left).toEqual([]);
    expect(register.states.at(-1)).toBe('failed');
    expect(register.ttls.at(-1)).toBe(60_000);
  });
});
