/** Findings that are no figures of rounds: a table of plain cells. */
export interface Grid {
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** As lines; the first column is text, the others are numbers. */
export function gridLines({ headings, rows }: Grid): string[] {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('   ')
      .trimEnd(),
  );
}
