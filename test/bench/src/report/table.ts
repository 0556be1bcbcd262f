import { isMet, type Figure, type Findings, type Unit } from './figure.js';
import { gridLines } from './grid.js';
import { median } from './statistics.js';

const HEADINGS = ['', 'median', 'lowest', 'highest', 'goal', ''];

/** The findings as a table for a terminal. */
export function toTable({ benchmark, about, figures, grid, notes = [] }: Findings): string {
  const lines = [
    ...(figures.length > 0 ? figureLines(figures) : []),
    ...(grid ? gridLines(grid) : []),
    ...notes,
  ];
  return [`${benchmark}: ${about}`, '', ...lines.map((line) => `  ${line}`), ''].join('\n');
}

function figureLines(figures: readonly Figure[]): string[] {
  const rows = [HEADINGS, ...figures.map(cells)];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('   ')
      .trimEnd(),
  );
}

function cells(figure: Figure): string[] {
  const { name, unit, rounds, goal } = figure;
  const met = isMet(figure);
  return [
    name,
    format(median(rounds), unit),
    format(Math.min(...rounds), unit),
    format(Math.max(...rounds), unit),
    goal === undefined ? '' : `${goal.rule} ${format(goal.bound, unit)}`,
    met === null ? '' : met ? 'met' : 'missed',
  ];
}

function format(value: number, unit: Unit): string {
  switch (unit) {
    case 'ratio':
      return value.toFixed(3);
    case 'ms':
      return `${value.toFixed(2)} ms`;
    case 'µs/row':
      return `${value.toFixed(2)} µs/row`;
    case 'rows/s':
      return `${grouped(value)} rows/s`;
    case 'MiB':
      return `${value.toFixed(1)} MiB`;
    case 'count':
      return grouped(value);
  }
}

function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
