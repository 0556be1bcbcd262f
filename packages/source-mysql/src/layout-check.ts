import type { TableMapEvent } from './binlog-events.js';
import type { Charsets } from './charsets.js';
import { baseType, type ColumnType } from './values.js';

/** What a table map says of its columns without their names, as the library has parsed it. */
interface LoggedLayout {
  readonly columnTypes: readonly number[];
  readonly columnsMetadata: readonly (LoggedColumn | undefined)[];
  readonly signedness?: readonly (boolean | undefined)[];
  readonly _columnCharsetIds?: readonly (number | undefined)[];
}

interface LoggedColumn {
  /** Of ENUM and SET, which the map itself calls STRING. The library takes it away once it has looked. */
  readonly type?: number;
  readonly max_length?: number;
  readonly precision?: number;
  readonly decimals?: number;
  readonly bits?: number;
  readonly length_size?: number;
}

/** Type codes in a table map (include/field_types.h), by what the catalog calls the type. */
const CODES: Readonly<Record<string, readonly number[]>> = {
  tinyint: [1],
  smallint: [2],
  mediumint: [9],
  int: [3],
  bigint: [8],
  float: [4],
  double: [5],
  decimal: [246],
  year: [13],
  date: [10, 14],
  time: [11, 19],
  datetime: [12, 18],
  timestamp: [7, 17],
  bit: [16],
  char: [254],
  binary: [254],
  uuid: [254],
  inet4: [254],
  inet6: [254],
  // The second ones are of MariaDB's compressed columns.
  varchar: [15, 141],
  varbinary: [15, 141],
  enum: [247],
  set: [248],
  json: [245, 252],
  tinyblob: [252, 140],
  tinytext: [252, 140],
  blob: [252, 140],
  text: [252, 140],
  mediumblob: [252, 140],
  mediumtext: [252, 140],
  longblob: [252, 140],
  longtext: [252, 140],
};

/** Bytes of the length in front of a value. */
const LENGTH_SIZES: Readonly<Record<string, number>> = {
  tinyblob: 1,
  tinytext: 1,
  blob: 2,
  text: 2,
  mediumblob: 3,
  mediumtext: 3,
  longblob: 4,
  longtext: 4,
};

/** Of one character, in bytes. */
const WIDTHS: Readonly<Record<string, number>> = {
  utf8mb4: 4,
  utf8mb3: 3,
  utf8: 3,
  ucs2: 2,
  utf16: 4,
  utf32: 4,
  latin1: 1,
  ascii: 1,
};

/** How a table map without names differs from the columns of the table; null when they fit. */
export function layoutProblem(
  map: TableMapEvent,
  columns: readonly ColumnType[],
  charsets: Charsets,
): string | null {
  if (map.columnCount !== columns.length)
    return `has ${String(map.columnCount)} columns, the table has ${String(columns.length)}`;
  const layout = map as unknown as LoggedLayout;
  const index = columns.findIndex((column, at) => !fits(column, layout, at, charsets));
  if (index < 0) return null;
  const { name, type } = columns[index] ?? { name: '?', type: '?' };
  return `has another type in place ${String(index + 1)} than ${name} ${type}, which the table has there`;
}

function fits(column: ColumnType, layout: LoggedLayout, at: number, charsets: Charsets): boolean {
  const base = baseType(column.type);
  const codes = CODES[base];
  const code = layout.columnsMetadata[at]?.type ?? layout.columnTypes[at] ?? -1;
  if (codes === undefined) return true;
  if (!codes.includes(code)) return false;
  const signed = layout.signedness?.[at];
  if (signed !== undefined && base !== 'year' && signed !== /unsigned|zerofill/.test(column.type))
    return false;
  const id = layout._columnCharsetIds?.[at];
  const charset = id === undefined ? undefined : charsets.ofCollation(id);
  if (charset !== undefined && charset !== 'binary' && column.charset !== null && charset !== column.charset)
    return false;
  // A compressed value is a byte longer than declared at most.
  return code === 141 || fitsSize(column, base, layout.columnsMetadata[at] ?? {});
}

function fitsSize({ type, charset }: ColumnType, base: string, logged: LoggedColumn): boolean {
  const [first, second] = [...(/\(([\d,]+)\)/.exec(type)?.[1]?.split(',') ?? [])].map(Number);
  const size = LENGTH_SIZES[base];
  if (size !== undefined) return logged.length_size === undefined || logged.length_size === size;
  if (base === 'decimal') return logged.precision === first && logged.decimals === (second ?? 0);
  if (base === 'bit') return logged.bits === first;
  if (/^(time|datetime|timestamp)$/.test(base)) return (logged.decimals ?? 0) === (first ?? 0);
  if (!/^(var)?(char|binary)$/.test(base) || logged.max_length === undefined) return true;
  const width = base.endsWith('binary') ? 1 : WIDTHS[charset ?? ''];
  return width === undefined || logged.max_length === (first ?? 1) * width;
}
