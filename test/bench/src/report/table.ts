import type { Findings } from './figure.js';
import type { Judgement } from './judgement.js';
import { machineLines, type Machine } from './machine.js';
import { findingsTables, goalsRows, type Rows } from './rows.js';

/** The findings as a table for a terminal. */
export function toTable(findings: Findings): string {
  const { benchmark, about, notes = [] } = findings;
  const tables = findingsTables(findings).flatMap((rows) => [...draw(rows), '']);
  return [`${benchmark}: ${about}`, '', ...tables, ...notes.map((note) => `  ${note}`)].join('\n');
}

/** What stands at the end of a report: where it was measured, and which goals were met there. */
export function toClosing(machine: Machine, judgements: readonly Judgement[]): string {
  return ['goals', ...machineLines(machine), '', ...draw(goalsRows(judgements)), ''].join('\n');
}

function draw(rows: Rows): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return `  ${cells.join('   ').trimEnd()}`;
  });
}
