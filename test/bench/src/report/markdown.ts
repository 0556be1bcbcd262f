import type { Report } from './report.js';
import { machineLines } from './machine.js';
import { findingsTables, goalsRows, type Rows } from './rows.js';

/** The whole report for a page such as this workspace's README. */
export function toMarkdown({ machine, findings, goals }: Report): string {
  return [
    ...machineLines(machine).map((line) => `${line}  `),
    '',
    ...draw(goalsRows(goals)),
    ...findings.flatMap((each) => [
      '',
      `**${each.benchmark}**: ${each.about}`,
      ...findingsTables(each).flatMap((rows) => ['', ...draw(rows)]),
      ...(each.notes ?? []).flatMap((note) => ['', note]),
    ]),
    '',
  ].join('\n');
}

function draw([headings = [], ...rows]: Rows): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(headings),
    line(headings.map((_, column) => (column === 0 ? '---' : '---:'))),
    ...rows.map((cells) => line(cells.map(cellText))),
  ];
}

/** Figures that belong to the one above them are indented, which a Markdown table would swallow. */
function cellText(cell: string): string {
  return cell.replace(/^ +/, (spaces) => '&emsp;'.repeat(spaces.length / 2)).replaceAll('|', '\\|');
}
