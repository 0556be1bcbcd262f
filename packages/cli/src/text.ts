/** Controls, and what turns the direction of writing: a key must not move the cursor of who looks at it. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text of somebody else in one line of a terminal. */
export function printable(text: string): string {
  return text.replaceAll(CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same for a text of several lines. */
export function printableLines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => printable(line.replaceAll('\t', '    ')));
}

export function amount(count: number, one: string, many = `${one}s`): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}

/** Columns as wide as what is in them; the last one as long as it is. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  return rows
    .map((row) =>
      row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0))).join('  '),
    )
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

export function json(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
