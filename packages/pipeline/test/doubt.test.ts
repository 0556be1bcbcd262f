import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Doubt } from '../src/doubt.js';
import { keptLog, turn } from './fixtures.js';

/** The server's word is given when a test gives it. */
class Setup {
  readonly kept = keptLog();
  readonly asked: (() => void)[] = [];
  over = 0;
  readonly doubt: Doubt;

  constructor(canAsk = true) {
    this.doubt = new Doubt({
      log: this.kept.log,
      prove: canAsk ? () => new Promise((resolve) => this.asked.push(resolve)) : null,
      over: () => {
        this.over += 1;
      },
    });
  }

  async answer(): Promise<void> {
    this.asked.shift()?.();
    await turn();
  }
}

/** The process stands still for so long, by both clocks: no timer of it fires meanwhile. */
function standStill(milliseconds: number): void {
  const now = performance.now() + milliseconds;
  vi.setSystemTime(Date.now() + milliseconds);
  vi.spyOn(performance, 'now').mockImplementation(() => now);
}

describe('whether the log may be another owner’s', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'Date'] });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  it('is no question while the process runs, however long nothing happens', () => {
    const { doubt, asked } = new Setup();
    vi.advanceTimersByTime(3_600_000);
    expect(doubt.inDoubt).toBe(false);
    expect(asked).toEqual([]);
    doubt.close();
  });

  it('is what the source says', () => {
    const setup = new Setup();
    setup.doubt.set(true);
    expect(setup.doubt.inDoubt).toBe(true);
    setup.doubt.set(false);
    expect([setup.doubt.inDoubt, setup.over]).toEqual([false, 1]);
  });

  it('arises when the process stood still, and lasts until the server has been asked', async () => {
    const setup = new Setup();
    standStill(1_500);
    expect(setup.doubt.inDoubt).toBe(true);
    const waited = setup.doubt.over(new AbortController().signal);
    expect(setup.asked).toHaveLength(1);
    expect(setup.kept.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    await setup.answer();
    await waited;
    expect([setup.doubt.inDoubt, setup.over]).toEqual([false, 1]);
  });

  it('arises by the wall clock alone: the other one may not count while a machine sleeps', async () => {
    const setup = new Setup();
    vi.setSystemTime(Date.now() + 60_000);
    expect(setup.doubt.inDoubt).toBe(true);
    await setup.answer();
    expect(setup.doubt.inDoubt).toBe(false);
  });

  it('is seen before the next turn, by the clock that the turn has read', () => {
    const setup = new Setup();
    expect(setup.doubt.inDoubtAt(Date.now())).toBe(false);
    standStill(1_500);
    expect(setup.doubt.inDoubtAt(Date.now())).toBe(true);
  });

  it('is seen within sixteen turns when the clock of the wall was set back meanwhile', () => {
    const setup = new Setup();
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1_500);
    vi.setSystemTime(Date.now() - 3_600_000);
    const seen = Array.from({ length: 16 }, () => setup.doubt.inDoubtAt(Date.now()));
    expect(seen).toContain(true);
  });

  it('is no question of many short turns that take long together', () => {
    const setup = new Setup();
    for (let i = 0; i < 100; i += 1) {
      vi.advanceTimersByTime(900);
      expect(setup.doubt.inDoubtAt(Date.now())).toBe(false);
    }
    expect(setup.asked).toEqual([]);
  });

  it('is not over by an answer to a question from before the last standstill', async () => {
    const setup = new Setup();
    standStill(1_500);
    expect(setup.doubt.inDoubt).toBe(true);
    standStill(1_500);
    await setup.answer();
    expect(setup.doubt.inDoubt).toBe(true);
    await setup.answer();
    expect([setup.doubt.inDoubt, setup.over]).toEqual([false, 1]);
  });

  it('is not over by an answer while the source is in doubt', async () => {
    const setup = new Setup();
    standStill(1_500);
    expect(setup.doubt.inDoubt).toBe(true);
    setup.doubt.set(true);
    await setup.answer();
    expect([setup.doubt.inDoubt, setup.over]).toEqual([true, 0]);
    setup.doubt.set(false);
    expect([setup.doubt.inDoubt, setup.over]).toEqual([false, 1]);
  });

  it('does not arise where nobody could be asked', () => {
    const { doubt } = new Setup(false);
    standStill(60_000);
    expect(doubt.inDoubt).toBe(false);
  });
});
