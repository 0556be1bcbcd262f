import fc from 'fast-check';

/** A column, and what is stored in it. */
export interface Column<Value> {
  /** As `create table` takes it. */
  readonly type: string;
  /** Stored in any case: the ends of what the type can hold, and what is odd. */
  readonly edges: readonly Value[];
  /** Drawn for all other rows. */
  readonly any: fc.Arbitrary<Value>;
}

export function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `c${String(index)}`);
}

/** How often a drawn value is NULL: every so many times. */
const NULL_EVERY = 8;

/** Rows a table gets at least; more by `COLUMN_ROWS`. */
export const ROWS = Number(process.env['COLUMN_ROWS'] ?? 150);

/** Draws the same values again: printed with what was wrong. */
export const SEED = Number(process.env['COLUMN_SEED'] ?? Math.trunc(Math.random() * 2 ** 31));

/** The values of each column from the first row to the last: its edges, then what was drawn. All NULL in the last row. */
export function drawn<Value>(
  columns: readonly Column<Value>[],
  seed = SEED,
): readonly (readonly (Value | null)[])[] {
  const rows = Math.max(ROWS, ...columns.map(({ edges }) => edges.length + 1));
  return columns.map(({ edges, any }, index) => {
    const more = fc.sample(fc.option(any, { freq: NULL_EVERY }), {
      numRuns: rows - edges.length,
      // Else two columns of one type would have the same values, row by row.
      seed: seed + index,
    });
    return [...edges, ...more.slice(0, -1), null];
  });
}

/** What one side said of a table: the texts of a row's columns by the row's id. */
export type Said = ReadonlyMap<string, readonly (string | null | undefined)[]>;

/** Where the two differ, in words. */
export function differences(types: readonly string[], selected: Said, streamed: Said): string[] {
  const found: string[] = [];
  if (selected.size !== streamed.size)
    found.push(`${String(selected.size)} rows in the table, ${String(streamed.size)} in the stream`);
  for (const [id, row] of selected) {
    row.forEach((text, column) => {
      const other = streamed.get(id)?.[column];
      if (other === text) return;
      found.push(
        `${types[column] ?? ''} in row ${id}: SELECT gives ${short(text)}, the stream ${short(other)} (COLUMN_SEED=${String(SEED)})`,
      );
    });
  }
  return found;
}

function short(text: string | null | undefined): string {
  return text === undefined ? 'nothing' : JSON.stringify(text).slice(0, 200);
}

/** Any text without NUL, which no column of characters of Postgres holds. */
export const anyText = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\0', ''));

export const oddTexts = [
  '',
  ' ',
  '  a  ',
  '\ufeff',
  '\ufeffbom',
  '👩‍👩‍👧‍👦🇨🇭',
  'e\u0301',
  '\u00e9',
  '\u0001\u001f\u007f\u0085\u2028',
  'a\r\n\tb',
  `"'\\{}(),;$1?%_`,
  'NULL',
  'null',
  '\\x00',
  '\\N',
];

/** A whole number of so many bits, as text. */
export function integer(bits: number, unsigned = false): fc.Arbitrary<string> {
  const [min, max] = bounds(bits, unsigned);
  return fc.oneof(fc.bigInt({ min, max }), fc.bigInt({ min: -9n, max: 9n })).map((value) => {
    const fits = value < min ? -value : value;
    return String(fits);
  });
}

export function integerEdges(bits: number, unsigned = false): string[] {
  const [min, max] = bounds(bits, unsigned);
  return [min, max, min + 1n, max - 1n, max / 2n, max / 2n + 1n, 0n, unsigned ? 1n : -1n].map(String);
}

function bounds(bits: number, unsigned: boolean): readonly [min: bigint, max: bigint] {
  const half = 2n ** BigInt(bits - 1);
  return unsigned ? [0n, 2n * half - 1n] : [-half, half - 1n];
}

/** A decimal number of so many digits before and behind the point. */
export function decimal(before: number, behind: number, unsigned = false): fc.Arbitrary<string> {
  const digits = (count: number): fc.Arbitrary<string> =>
    fc.string({ unit: fc.constantFrom(...Array.from('0123456789')), minLength: count, maxLength: count });
  return fc
    .tuple(fc.boolean(), digits(before), digits(behind), fc.nat(Math.max(0, before - 1)))
    .map(([negative, whole, fraction, cut]) => {
      const number = `${whole.slice(cut) || '0'}${behind > 0 ? `.${fraction}` : ''}`;
      return negative && !unsigned ? `-${number}` : number;
    });
}

/** A double that every server can read back; JavaScript prints -0 without its sign. */
export const anyDouble = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .map((value) => (Object.is(value, -0) ? '-0' : String(value)));

export const anyFloat = fc
  .float({ noNaN: true, noDefaultInfinity: true })
  .map((value) => (Object.is(value, -0) ? '-0' : String(value)));

export const hexBytes = (maxLength: number): fc.Arbitrary<string> =>
  fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes).toString('hex'));

export const two = (value: number): string => String(value).padStart(2, '0');

/** A day of the common era that every calendar has. */
export const anyDate = fc
  .tuple(fc.integer({ min: 1, max: 9_999 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
  .map(([year, month, day]) => `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`);

/** A time of day with so many digits behind the second. */
export function clock(digits: number): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(23), fc.nat(59), fc.nat(59), fc.nat(10 ** digits - 1))
    .map(([hour, minute, second, fraction]) => {
      const behind = digits === 0 ? '' : `.${String(fraction).padStart(digits, '0')}`;
      return `${two(hour)}:${two(minute)}:${two(second)}${behind}`;
    });
}

/** JSON without what no server keeps: NUL, and halves of surrogate pairs. */
export const anyJson = fc
  .jsonValue({ stringUnit: 'binary', maxDepth: 3 })
  .map((value) => JSON.stringify(value))
  .filter((text) => !text.includes('\\u0000'));
