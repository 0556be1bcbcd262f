const STEPS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

/** A span in its two largest units: `3 h 20 min`, `4.2 s`, `0.53 ms`. */
export function span(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined) return '–';
  const value = Math.max(0, milliseconds);
  if (value < 1_000) return `${String(Number(value.toPrecision(2)))} ms`;
  if (value < 10_000) return `${(Math.floor(value / 100) / 10).toFixed(1)} s`;
  const at = STEPS.findIndex(([size]) => value >= size);
  const [size, unit] = STEPS[at] ?? [1_000, 's'];
  const whole = Math.floor(value / size);
  const [nextSize, nextUnit] = STEPS[at + 1] ?? [0, ''];
  const rest = nextSize === 0 ? 0 : Math.floor((value - whole * size) / nextSize);
  return rest === 0 ? `${String(whole)} ${unit}` : `${String(whole)} ${unit} ${String(rest)} ${nextUnit}`;
}

export function seconds(value: number | null | undefined): string {
  return span(value === null || value === undefined ? null : value * 1_000);
}

/** How long ago a moment was, or how far off it is. */
export function ago(iso: string | null | undefined, now: number): string {
  if (iso === null || iso === undefined) return '–';
  const distance = now - Date.parse(iso);
  if (Number.isNaN(distance)) return iso;
  if (Math.abs(distance) < 1_000) return 'now';
  return distance >= 0 ? `${span(distance)} ago` : `in ${span(-distance)}`;
}

/** When something is due: it may be so already by the time that it is told. */
export function due(iso: string | null | undefined, now: number): string {
  return iso !== null && iso !== undefined && Date.parse(iso) < now ? 'now' : ago(iso, now);
}

const CLOCK = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** By the clock and the habits of who reads it. */
export function clock(iso: string | null | undefined): string {
  if (iso === null || iso === undefined) return '–';
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? iso : CLOCK.format(time);
}
