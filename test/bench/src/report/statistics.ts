/** The value below which `share` (0 to 1) of the values lie: nearest rank. */
export function percentile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  const rank = Math.min(sorted.length, Math.max(1, Math.ceil(share * sorted.length)));
  return sorted[rank - 1] ?? NaN;
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: ArrayLike<number>): number {
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? NaN) + upper) / 2;
}

/** Each value divided by the one of the same round, so that what slows a whole round down cancels out. */
export function ratios(values: readonly number[], of: readonly number[]): number[] {
  return values.map((value, round) => value / (of[round] ?? NaN));
}
