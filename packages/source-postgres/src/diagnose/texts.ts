export const LOST =
  'What a slot no longer keeps is gone: the pipeline stops, and the events between must be made up for.';

export function bytesText(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

export function durationText(seconds: number): string {
  if (seconds < 60) return `${String(Math.round(seconds))} s`;
  return seconds < 7_200 ? `${String(Math.round(seconds / 60))} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
