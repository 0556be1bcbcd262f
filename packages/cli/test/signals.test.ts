import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { stopSignal } from '../src/signals.js';

/** A process that gets signals at given milliseconds and notes its exit. */
function host() {
  const signals = new EventEmitter();
  const exits: number[] = [];
  let now = 0;
  const stop = stopSignal({ signals, exit: (code) => exits.push(code), now: () => now });
  return {
    stop,
    exits,
    at: (milliseconds: number, name: 'SIGTERM' | 'SIGINT'): void => {
      now = milliseconds;
      signals.emit(name);
    },
  };
}

describe('signals', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('the first %s asks to stop, and exits nothing', (name) => {
    const { stop, exits, at } = host();
    expect(stop.aborted).toBe(false);
    at(1_000, name);
    expect(stop.aborted).toBe(true);
    expect(stop.reason).toBe(name);
    expect(exits).toEqual([]);
  });

  test.each([
    ['SIGTERM', 'SIGTERM', 143],
    ['SIGTERM', 'SIGINT', 130],
    ['SIGINT', 'SIGINT', 130],
  ] as const)('%s and then %s exits at once with %i', (first, second, code) => {
    const { exits, at } = host();
    at(1_000, first);
    at(3_000, second);
    expect(exits).toEqual([code]);
  });

  test('a signal that npm passes on right after the terminal does not count as the second', () => {
    const { exits, at } = host();
    at(1_000, 'SIGINT');
    at(1_001, 'SIGINT');
    at(1_499, 'SIGINT');
    expect(exits).toEqual([]);
    at(1_501, 'SIGINT');
    expect(exits).toEqual([130]);
  });
});
