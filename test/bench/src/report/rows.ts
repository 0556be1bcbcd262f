import { isMet, type Figure, type Findings } from './figure.js';
import { format } from './format.js';
import type { Judgement } from './judgement.js';
import { median } from './statistics.js';

/** A table's rows of cells, the headings first; what differs between a terminal and Markdown is only how they are drawn. */
export type Rows = readonly (readonly string[])[];

/** The tables of one benchmark: its figures, and its grid, if it has them. */
export function findingsTables({ figures, grid }: Findings): Rows[] {
  const tables: Rows[] = [];
  if (figures.length > 0)
    tables.push([['', 'median', 'lowest', 'highest', 'goal', ''], ...figures.map(cells)]);
  if (grid !== undefined) tables.push([grid.headings, ...grid.rows]);
  return tables;
}

export function goalsRows(judgements: readonly Judgement[]): Rows {
  return [
    ['goal', '', 'measured', ''],
    ...judgements.map(({ what, rule, bound, unit, measured, met }) => [
      what,
      `${rule} ${format(bound, unit)}`,
      measured === null ? '' : format(measured, unit),
      verdict(met, 'not measured'),
    ]),
  ];
}

function cells(figure: Figure): string[] {
  const { name, unit, rounds, goal } = figure;
  return [
    name,
    format(median(rounds), unit),
    format(Math.min(...rounds), unit),
    format(Math.max(...rounds), unit),
    goal === undefined ? '' : `${goal.rule} ${format(goal.bound, unit)}`,
    verdict(isMet(figure), ''),
  ];
}

function verdict(met: boolean | null, otherwise: string): string {
  return met === null ? otherwise : met ? 'met' : 'missed';
}
