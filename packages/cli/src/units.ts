const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `3.4 MiB` */
export function bytesText(bytes: number): string {
  let rest = bytes;
  let unit = 0;
  while (rest >= 1_024 && unit < UNITS.length - 1) {
    rest /= 1_024;
    unit += 1;
  }
  return `${unit === 0 ? String(rest) : rest.toFixed(1)} ${UNITS[unit] ?? ''}`;
}

/** `0.8 s`, `4 min 10 s`, `3 h 5 min`, `2 d 7 h`: the larger, the rougher. */
export function secondsText(seconds: number): string {
  if (seconds < 60) return `${String(seconds)} s`;
  if (seconds < 3_600) return `${String(Math.floor(seconds / 60))} min ${String(Math.floor(seconds % 60))} s`;
  if (seconds < 86_400)
    return `${String(Math.floor(seconds / 3_600))} h ${String(Math.floor((seconds % 3_600) / 60))} min`;
  return `${String(Math.floor(seconds / 86_400))} d ${String(Math.floor((seconds % 86_400) / 3_600))} h`;
}
