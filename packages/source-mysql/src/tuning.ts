import type { TableMapEvent } from './binlog-events.js';
import { unicodeText, type Charsets } from './charsets.js';
import { mysqlError } from './errors.js';
import { fieldOf, type MappedColumn } from './row-mapper.js';
import { baseType, type ColumnType } from './values.js';

/** What the library decodes a row by, and keeps between a table map and its rows. */
interface DecodedColumn {
  name: string;
  charset: string | null;
  type: number;
}
interface DecodedSchema {
  readonly COLUMN_NAME: string;
  COLUMN_TYPE: string;
  CHARACTER_SET_NAME: string | null;
  ENUM_VALUES?: readonly string[];
  SET_VALUES?: readonly string[];
}
interface DecodedTableMap {
  readonly columnCount: number;
  readonly columnTypes: readonly number[];
  /** Labels of the enum and set columns, in the column's charset. */
  readonly _enumSetValues?: readonly (readonly Buffer[] | undefined)[];
  readonly _columnCharsetIds?: readonly (number | undefined)[];
  readonly tableId: number;
  readonly tableMap: Readonly<
    Record<number, { readonly columns: DecodedColumn[]; readonly columnSchemas: DecodedSchema[] } | undefined>
  >;
}

/** Type codes (include/field_types.h) that the library can read in a row: others shift what follows them. */
const READABLE = new Set([1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 140, 141]);
const FIRST_OF_THE_REST = 245;
const BLOB = 252;
const BLOB_LIKE = new Set([245, 249, 250, 251, 252, 255]);
const STRING_LIKE = new Set([15, 254]);

/** Throws `MYSQL_DECODE` when a column has a type whose length in a row is not known. */
export function refuseUnknownTypes(map: TableMapEvent, label: string, columns: readonly ColumnType[]): void {
  const codes = (map as unknown as DecodedTableMap).columnTypes;
  const index = codes.findIndex((code) => !READABLE.has(code) && code < FIRST_OF_THE_REST);
  if (index < 0) return;
  const column =
    columns.length === codes.length ? (columns[index]?.name ?? '?') : `number ${String(index + 1)}`;
  throw mysqlError(
    'MYSQL_DECODE',
    `The column ${column} of ${label} has a type that can't be read from the log (code ${String(codes[index])}): where the next column starts is not known.`,
    'Move that column to a table of its own; the other columns of its rows are lost to the log otherwise.',
  );
}

/** The columns as the log describes them. `declared` tells what only the catalog knows. */
export function loggedColumns(
  map: TableMapEvent,
  declared: readonly ColumnType[],
  charsets: Charsets,
): ColumnType[] {
  const { columnSchemas, ids } = partsOf(map);
  return columnSchemas.map((schema, index) => {
    const name = schema.COLUMN_NAME;
    const id = ids[index];
    const charset = id === undefined ? null : (charsets.ofCollation(id) ?? schema.CHARACTER_SET_NAME);
    const known = declared.find((column) => column.name === name)?.type;
    return {
      name,
      type: typeInLog(schema.COLUMN_TYPE, known),
      charset: charset === 'binary' ? null : charset,
    };
  });
}

export function sameColumns(a: readonly ColumnType[], b: readonly ColumnType[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ name, type, charset }, index) => {
      const other = b[index];
      return name === other?.name && type === other.type && charset === other.charset;
    })
  );
}

/** Types of MariaDB that the log calls otherwise. */
const CALLED: Readonly<Record<string, string>> = {
  uuid: 'binary(16)',
  inet6: 'binary(16)',
  inet4: 'binary(4)',
  json: 'longtext',
};

function typeInLog(logged: string, declared: string | undefined): string {
  return declared !== undefined && CALLED[declared] === logged ? declared : logged;
}

/**
 * Makes the library hand out the values of a layout without loss, under names of ours (a column may have any).
 * Runs for each table map that the library has read, before its rows are read.
 */
export function tune(
  map: TableMapEvent,
  types: readonly ColumnType[],
  mapped: ReadonlyMap<number, MappedColumn>,
  charsets: Charsets,
): void {
  const { columns, columnSchemas, labels } = partsOf(map);
  columns.forEach((column, index) => {
    const schema = columnSchemas[index];
    const type = types[index];
    if (schema === undefined || type === undefined) return;
    column.name = fieldOf(index);
    const codec = mapped.get(index)?.codec;
    // What nobody asks for needs no decoding either.
    if (codec === undefined || codec.bytes) wantBytes(column, schema, type);
    else column.charset = type.charset;
    const base = baseType(type.type);
    if (base === 'json' && BLOB_LIKE.has(column.type)) wantJson(column);
    if (base === 'enum') schema.ENUM_VALUES = withInvalid(labelsOf(schema, type, labels[index], charsets));
    if (base === 'set') schema.SET_VALUES = labelsOf(schema, type, labels[index], charsets);
  });
}

function partsOf(map: TableMapEvent): {
  columns: DecodedColumn[];
  columnSchemas: DecodedSchema[];
  ids: readonly (number | undefined)[];
  labels: readonly (readonly Buffer[] | undefined)[];
} {
  const decoded = map as unknown as DecodedTableMap;
  const table = decoded.tableMap[decoded.tableId];
  return {
    columns: table?.columns ?? [],
    columnSchemas: table?.columnSchemas ?? [],
    ids: decoded._columnCharsetIds ?? [],
    labels: decoded._enumSetValues ?? [],
  };
}

function wantBytes(column: DecodedColumn, schema: DecodedSchema, { type }: ColumnType): void {
  if (BLOB_LIKE.has(column.type)) {
    // Spatial values and JSON have the layout of a BLOB in a row.
    column.type = BLOB;
    column.charset = null;
  } else if (column.type === 140) {
    column.charset = null;
  } else if (STRING_LIKE.has(column.type) && baseType(type) !== 'binary') {
    schema.COLUMN_TYPE = 'varbinary(0)';
  } else if (column.type === 141) {
    schema.COLUMN_TYPE = 'varbinary(0)';
  }
}

/** MySQL's binary JSON as bytes; MariaDB's text stays text. */
function wantJson(column: DecodedColumn): void {
  if (column.type !== 245) return;
  column.type = BLOB;
  column.charset = null;
}

/** The number of an invalid value is 0, and the library looks for its label in front of the first. */
function withInvalid(labels: readonly string[]): readonly string[] {
  return Object.assign([...labels], { '-1': '' });
}

function labelsOf(
  schema: DecodedSchema,
  { charset }: ColumnType,
  bytes: readonly Buffer[] | undefined,
  charsets: Charsets,
): readonly string[] {
  if (bytes === undefined) return labelsOfType(schema.COLUMN_TYPE);
  const decode = charsets.decoder(charset);
  if (decode !== null) return bytes.map(decode);
  // The library does not know the collations of newer MariaDB, and takes them all for utf8mb4.
  const known = schema.ENUM_VALUES ?? schema.SET_VALUES ?? [];
  return bytes.map((label, index) => unicodeText(charset, label) ?? known[index] ?? '');
}

/** The labels of `enum('a','it''s')`. The library splits at every comma. */
export function labelsOfType(type: string): string[] {
  return [...type.matchAll(/'((?:[^']|'')*)'/g)].map(([, label = '']) => label.replaceAll("''", "'"));
}
