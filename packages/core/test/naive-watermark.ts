import type { Position, PositionRange } from '../src/position.js';
import { position } from './fixtures.js';

/**
 * What a watermark should say, as naively as possible: `settled[n]` tells whether `position(n)` is settled.
 * The leading run of flags is the watermark, every other maximal run is one range above it.
 */
export function naiveWatermark(settled: readonly boolean[]): {
  watermark: Position;
  completed: PositionRange[];
} {
  const firstUnsettled = settled.includes(false) ? settled.indexOf(false) : settled.length;
  const completed: PositionRange[] = [];
  for (let n = firstUnsettled; n < settled.length; n += 1) {
    if (settled[n] !== true) continue;
    const first = n;
    while (settled[n + 1] === true) n += 1;
    completed.push({ first: position(first), last: position(n) });
  }
  return { watermark: firstUnsettled === 0 ? 'start' : position(firstUnsettled - 1), completed };
}
