const DAY_MS = 86_400_000;

/** A day of UTC as `2026-01-31`: in this form days compare as texts. */
export type Day = string;

export function dayAfter(day: Day): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
}

/** A day and so many after it. */
export function daysFrom(first: Day, after: number): Day[] {
  const days = [first];
  for (let n = 0; n < after; n += 1) days.push(dayAfter(days.at(-1) ?? first));
  return days;
}

/** `p20260131` */
export function partitionOf(day: Day): string {
  return `p${day.replaceAll('-', '')}`;
}
