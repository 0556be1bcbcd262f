import { isMet, type Findings } from './figure.js';
import { median } from './statistics.js';

/** The findings as one line, for programs. */
export function toJson(all: readonly Findings[]): string {
  return JSON.stringify(
    all.map(({ benchmark, about, figures, grid, notes }) => ({
      benchmark,
      about,
      figures: figures.map((figure) => ({
        name: figure.name,
        unit: figure.unit,
        median: median(figure.rounds),
        rounds: figure.rounds,
        goal: figure.goal ?? null,
        met: isMet(figure),
      })),
      ...(grid === undefined ? {} : { grid }),
      ...(notes === undefined ? {} : { notes }),
    })),
  );
}
