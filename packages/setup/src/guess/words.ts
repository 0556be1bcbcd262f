/** A name without the habits of its writer: `aggregate_id`, `aggregateId`, `AGGREGATE_ID` and `AggregateId` are one. */
export function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** What kind of value a column holds, as far as its type says it. */
export type Kind = 'json' | 'text' | 'bytes' | 'integer' | 'uuid' | 'time' | 'boolean' | 'number' | 'other';

const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/^jsonb?$/, 'json'],
  // What MySQL and MariaDB keep a UUID in, for want of a type.
  [/^(uuid|uniqueidentifier|(var)?char\(36\)|binary\(16\))$/, 'uuid'],
  [/^(tinyint\(1\)|bool|bit$|bit\(1\))/, 'boolean'],
  [
    /^(character|varchar|char|n?varchar|text|tinytext|mediumtext|longtext|citext|bpchar|enum|set|name)\b/,
    'text',
  ],
  [/^(bytea|blob|tinyblob|mediumblob|longblob|binary|varbinary)\b/, 'bytes'],
  [/^(smallint|integer|bigint|int|tinyint|mediumint|int2|int4|int8)\b/, 'integer'],
  [/^(timestamp|date|time)/, 'time'],
  [/^(numeric|decimal|real|double|float|money)/, 'number'],
];

export function kindOf(type: string): Kind {
  return KINDS.find(([pattern]) => pattern.test(type))?.[1] ?? 'other';
}
