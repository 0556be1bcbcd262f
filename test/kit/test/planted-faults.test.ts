import { mkdir, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PlantedClock, PlantedDisk } from '@strandline/test-kit';
import { afterAll, afterEach, describe, expect, test } from 'vitest';

const HOUR = 3_600_000;

describe('a planted clock', () => {
  const clock = new PlantedClock();
  const real = Date;
  afterEach(() => {
    clock.set(0);
  });
  afterAll(() => {
    globalThis.Date = real;
  });

  test('is ahead or behind in all ways to ask for the time, and tells the right one aside', () => {
    for (const ahead of [5 * HOUR, -HOUR]) {
      const before = clock.right();
      clock.set(ahead);
      const seen = [Date.now(), new Date().getTime(), Date.parse(Date())];
      for (const time of seen) expect(Math.abs(time - before - ahead)).toBeLessThan(1_500);
      expect(Math.abs(clock.right() - before)).toBeLessThan(500);
    }
  });

  test('leaves dates that are given, and what a Date is, as they are', () => {
    clock.set(HOUR);
    const date = new Date(86_400_000);
    expect(date.toISOString()).toBe('1970-01-02T00:00:00.000Z');
    expect(new Date(2026, 0, 31, 12).getDate()).toBe(31);
    expect(date).toBeInstanceOf(Date);
    expect(Object.prototype.toString.call(date)).toBe('[object Date]');
    expect(Date.UTC(1970, 0, 2)).toBe(86_400_000);
  });

  test('leaves timers and performance.now() alone', async () => {
    const began = performance.now();
    clock.set(-HOUR);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(performance.now() - began).toBeLessThan(1_000);
    expect(performance.now() - began).toBeGreaterThanOrEqual(19);
  });
});

describe('a planted disk', () => {
  test('has no room below its directory while it is full, for who imported the function before', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'strandline-disk-'));
    const disk = new PlantedDisk(path.join(directory, 'full'));
    const write = async (name: string): Promise<void> => {
      const file = await open(path.join(directory, name), 'w');
      try {
        await file.writeFile('ten letters');
        await file.sync();
      } finally {
        await file.close();
      }
    };
    try {
      await mkdir(path.join(directory, 'full'));
      await write('full/before');
      disk.fill(true);
      await expect(write('full/meanwhile')).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(await readFile(path.join(directory, 'full/meanwhile'), 'utf8')).toBe('ten l');
      await write('elsewhere');
      disk.fill(false);
      await write('full/after');
      expect(await readFile(path.join(directory, 'full/after'), 'utf8')).toBe('ten letters');
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
