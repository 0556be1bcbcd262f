import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { outboxDdl, type Dialect } from '@strandline/outbox';
import { testDatabase, testMysqlDatabase } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';

const page = await readFile(path.resolve(import.meta.dirname, '..', '..', 'docs', 'producers.md'), 'utf8');

interface Block {
  readonly language: string;
  readonly text: string;
}

const blocks: readonly Block[] = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', text = '']) => ({ language, text }),
);

const HEAD = /insert into strandline_outbox \(([^)]*)\)\s+values \(/g;

interface Recipe {
  readonly language: string;
  readonly sql: string;
  readonly columns: readonly string[];
  readonly isMysql: boolean;
}

/** The statement from its beginning to the bracket that ends its values. */
function statementAt(text: string, from: number, valuesAt: number): string {
  let depth = 1;
  let at = valuesAt;
  for (; depth > 0; at += 1) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
  }
  return text.slice(from, at);
}

const recipes: readonly Recipe[] = blocks.flatMap(({ language, text }) =>
  [...text.matchAll(HEAD)].map((found) => ({
    language,
    sql: statementAt(text, found.index, found.index + found[0].length),
    columns: (found[1] ?? '').split(',').map((name) => name.trim().replaceAll('`', '')),
    isMysql: found[0].includes('`'),
  })),
);

/** `%s`, `:name`, `@name`, `$1` and `?` as one kind: what each library makes of its own. */
function placed(sql: string, place: (n: number) => string): string {
  let n = 0;
  return sql.replaceAll(/%s|(?<!:):[a-z]+|@[a-z]+|\$\d+|\?/g, () => place((n += 1)));
}

const VALUES: Readonly<Record<string, string>> = {
  id: '01939d5f-7c00-7000-8000-000000000001',
  key: '42',
  type: 'order.paid',
  payload: '{"total": "ü\\"\'"}',
  headers: '{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}',
};

/** These declare their texts as text, which Postgres then takes for nothing else. */
const TYPED = new Set(['java', 'csharp']);

function expectWritten(row: Record<string, unknown> | undefined, { columns }: Recipe): void {
  const json = (value: unknown): unknown => JSON.parse(String(value));
  expect(row?.['key']).toBe('42');
  expect(row?.['type']).toBe('order.paid');
  expect(json(row?.['payload'])).toEqual(json(VALUES['payload']));
  expect(json(row?.['headers'])).toEqual(json(VALUES['headers']));
  if (columns.includes('id')) expect(row?.['id']).toBe(VALUES['id']);
  else expect(String(row?.['id'])).toMatch(/^[\da-f]{8}-/);
}

test('there are recipes in each language', () => {
  const languages = ['csharp', 'go', 'java', 'php', 'python', 'ruby'];
  expect([...new Set(recipes.map(({ language }) => language))].toSorted()).toEqual(languages);
  expect(recipes).toHaveLength(12);
});

test('the recipes of the documentation run on Postgres', async () => {
  await using db = await testDatabase();
  for (const sql of outboxDdl({ dialect: 'postgres' })) await db.pool.query(sql);
  for (const recipe of recipes.filter(({ isMysql }) => !isMysql)) {
    const values = recipe.columns.map((column) => VALUES[column] ?? '');
    if (TYPED.has(recipe.language)) {
      const types = values.map(() => 'text').join(', ');
      const literals = values.map((value) => `'${value.replaceAll("'", "''")}'`).join(', ');
      const sql = placed(recipe.sql, (n) => `$${String(n)}`);
      await db.pool.query(
        `prepare recipe (${types}) as ${sql}; execute recipe(${literals}); deallocate recipe`,
      );
    } else
      await db.pool.query(
        placed(recipe.sql, (n) => `$${String(n)}`),
        values,
      );
    const { rows } = await db.pool.query<Record<string, unknown>>(
      'delete from strandline_outbox returning id, key, type, payload::text, headers::text',
    );
    expect(rows, recipe.sql).toHaveLength(1);
    expectWritten(rows[0], recipe);
  }
});

test.each(['mysql', 'mariadb'] as const)('the recipes of the documentation run on %s', async (kind) => {
  await using db = await testMysqlDatabase(kind);
  for (const sql of outboxDdl({ dialect: kind })) await db.pool.query(sql);
  for (const recipe of recipes.filter(({ isMysql }) => isMysql)) {
    const values = recipe.columns.map((column) => VALUES[column] ?? '');
    await db.pool.execute(
      placed(recipe.sql, () => '?'),
      values,
    );
    const [rows] = await db.pool.query(
      'select id, `key`, type, cast(payload as char) as payload, cast(headers as char) as headers from strandline_outbox',
    );
    expect(rows, recipe.sql).toHaveLength(1);
    expectWritten((rows as Record<string, unknown>[])[0], recipe);
    await db.pool.query('delete from strandline_outbox');
  }
});

describe('the table of the documentation is the one that outboxDdl makes', () => {
  const tables = blocks.filter(({ language }) => language === 'sql').map(({ text }) => text);
  const plain = (sql: string): string =>
    sql
      .replaceAll(/if not exists |\s*;\s*/g, '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/\( | \)/g, (bracket) => bracket.trim())
      .replaceAll(/["`]/g, '');

  test.each<[Dialect, number]>([
    ['postgres', 0],
    ['mysql', 1],
    ['mariadb', 1],
  ])('%s', (dialect, n) => {
    expect(plain(tables[n] ?? '')).toBe(plain(outboxDdl({ dialect }).join(';')));
  });
});
