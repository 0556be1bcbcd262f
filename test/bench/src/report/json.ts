import { isMet, type Figure } from './figure.js';
import type { Report } from './report.js';
import { median } from './statistics.js';

/** The whole report as one line, for programs. What is no number, such as the time of a rate that never held, is null. */
export function toJson({ machine, options, findings, goals }: Report): string {
  const { versions, ...hardware } = machine;
  return JSON.stringify({
    machine: hardware,
    versions,
    options,
    findings: findings.map(({ benchmark, about, figures, grid, notes }) => ({
      benchmark,
      about,
      figures: figures.map(figureOf),
      grid: grid ?? null,
      notes: notes ?? [],
    })),
    goals,
  });
}

function figureOf(figure: Figure): object {
  const { name, unit, rounds, goal } = figure;
  return { name: name.trim(), unit, median: median(rounds), rounds, goal: goal ?? null, met: isMet(figure) };
}
