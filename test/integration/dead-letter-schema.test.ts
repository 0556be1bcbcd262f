import type { LettersError } from '@strandline/dead-letters';
import { deadLetterDesk, deadLetters } from '@strandline/dead-letters';
import { startPgBouncer, startPostgres } from '@strandline/servers';
import { databaseKinds, testDatabase, testMysqlDatabase } from '@strandline/test-kit';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { closing, event, letter, lettersOf, ROOMY } from '../conformance/dead-letter-fixtures.js';
import { letterDatabase } from './dead-letter-database.js';

const fence = { pipeline: 'shop', epoch: 1 };
const schemaError = { code: 'LETTERS_SCHEMA', transient: false };

async function failing(work: Promise<unknown>): Promise<LettersError> {
  return (await work.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error,
  )) as LettersError;
}

describe.each(databaseKinds)('the tables in %s', (kind) => {
  test('are made by the first claim, whoever else makes one at the same time', async () => {
    await using db = await letterDatabase(kind);
    const claims = ['a', 'b', 'c', 'd'].map(async (pipeline) => {
      await using store = closing(deadLetters(db.options()));
      return await store.claim({ pipeline, epoch: 1 }, 'w');
    });
    for (const claim of await Promise.all(claims)) expect(claim).toMatchObject({ keys: [] });
  });

  test('that are missing are told, with what makes them', async () => {
    await using db = await letterDatabase(kind);
    await using store = closing(deadLetters(db.options()));
    await using desk = closing(deadLetterDesk(db.options()));
    for (const work of [
      () => store.park(fence, 'a', lettersOf('a', 1, 1), 'behind', ROOMY),
      () => store.read(fence, 'a', 1),
      () => desk.list('shop', {}, { after: null, limit: 1 }),
      () => desk.discard('shop', 'a'),
    ]) {
      const error = await failing(work());
      expect(error).toMatchObject(schemaError);
      expect(error.remedy).toContain('create table if not exists');
    }
  });

  test('that the user may not make are told with the statements, which make them', async () => {
    await using db = await letterDatabase(kind);
    const poor = await db.poorUser();
    await using store = closing(deadLetters(db.options(poor.url)));
    const error = await failing(store.claim(fence, 'w'));
    expect(error).toMatchObject(schemaError);
    const [, ...script] = error.remedy.split(':\n');
    const statements = script.join(':\n').split(/;\n?/).filter(Boolean);
    expect(statements.length).toBeGreaterThan(2);
    for (const statement of statements) await db.run(statement);
    await poor.grant();
    expect(await store.claim(fence, 'w')).toMatchObject({ keys: [] });
    expect(await store.park(fence, 'a', lettersOf('a', 1, 2), 'behind', ROOMY)).toBe('stored');
    expect((await store.read(fence, 'a', 9)).length).toBe(2);
  });

  test('of another version, or with other columns, are left alone', async () => {
    await using db = await letterDatabase(kind);
    await using store = closing(deadLetters(db.options()));
    await using desk = closing(deadLetterDesk(db.options()));
    await store.claim(fence, 'w');
    await db.run('update strandline_letter_owners set version = 1');
    for (const work of [
      () => store.claim({ ...fence, epoch: 2 }, 'w'),
      () => store.park(fence, 'a', lettersOf('a', 1, 1), 'behind', ROOMY),
      () => desk.retry('shop', {}),
    ]) {
      const error = await failing(work());
      expect(error).toMatchObject(schemaError);
      expect(error.message).toMatch(/version 1, and this is made for version 2/);
    }
    // As a pipeline meets them that was not there when they were made.
    await db.run('alter table strandline_letter_owners alter column version set default 1');
    expect(await failing(store.claim({ pipeline: 'new', epoch: 1 }, 'w'))).toMatchObject(schemaError);
    await db.run('update strandline_letter_owners set version = 2');
    await store.park(fence, 'a', lettersOf('a', 1, 1), 'behind', ROOMY);
    await db.run('alter table strandline_dead_letters drop column failure_history');
    for (const work of [
      () => store.park(fence, 'a', lettersOf('a', 2, 2), 'behind', ROOMY),
      () => store.read(fence, 'a', 1),
      () => desk.list('shop', {}, { after: null, limit: 1 }),
      () => desk.show('shop', '1'),
    ]) {
      const error = await failing(work());
      expect(error).toMatchObject(schemaError);
      expect(error.message).toContain('has not the columns that it must have');
      expect(error.remedy).toContain('failure_history');
    }
    await db.run('create table other_letter_owners (pipeline_name int)');
    await using other = closing(deadLetters({ ...db.options(), prefix: 'other_' }));
    expect(await failing(other.claim(fence, 'w'))).toMatchObject(schemaError);
  });

  test('that were emptied while in use are told', async () => {
    await using db = await letterDatabase(kind);
    await using store = closing(deadLetters(db.options()));
    await store.claim(fence, 'w');
    await db.run('delete from strandline_letter_owners');
    const error = await failing(store.park(fence, 'a', lettersOf('a', 1, 1), 'behind', ROOMY));
    expect(error).toMatchObject(schemaError);
    expect(error.message).toContain('somebody has emptied it');
  });

  test('that lost letters by hand hold no key for ever', async () => {
    await using db = await letterDatabase(kind);
    await using store = closing(deadLetters(db.options()));
    await store.claim(fence, 'w');
    await store.park(fence, 'a', lettersOf('a', 1, 3), 'behind', ROOMY);
    await db.run('delete from strandline_dead_letters');
    expect(await store.read(fence, 'a', 9)).toEqual([]);
    expect(await store.claim({ ...fence, epoch: 2 }, 'w')).toMatchObject({ keys: [] });
    expect(await store.unpark({ ...fence, epoch: 2 }, 'a')).toBe(true);
    expect(await db.run('select held from strandline_letter_owners')).toEqual([
      { held: kind === 'postgres' ? '0' : 0 },
    ]);
  });

  test('may lie elsewhere, with other names', async () => {
    await using db = await letterDatabase(kind);
    const schema = kind === 'postgres' ? 'odd "schema' : db.name;
    if (kind === 'postgres') await db.run('create schema "odd ""schema"');
    const url = new URL(db.url);
    if (kind !== 'postgres') url.pathname = '';
    const options = { ...db.options(url.href), schema, prefix: 'mine_' };
    await using store = closing(deadLetters(options));
    await using desk = closing(deadLetterDesk(options));
    await store.claim(fence, 'w');
    await store.park(fence, 'a', lettersOf('a', 1, 2), 'behind', ROOMY);
    expect(await desk.retry('shop', { error: 'stock' })).toEqual(['a']);
    await using nowhere = closing(deadLetters({ ...options, schema: `${db.name}_none` }));
    expect(await failing(nowhere.claim(fence, 'w'))).toMatchObject(schemaError);
  });

  test('are not reached with a wrong password, or a wrong address', async () => {
    await using db = await letterDatabase(kind);
    const wrong = new URL(db.url);
    [wrong.username, wrong.password] = ['nobody', 'not-the-password'];
    await using stranger = closing(deadLetters(db.options(wrong.href)));
    const refused = await failing(stranger.claim(fence, 'w'));
    expect(refused).toMatchObject({ code: 'LETTERS_CONFIG', transient: false });
    expect(inspect(refused, { depth: 9 })).not.toContain('not-the-password');
    const closed = new URL(db.url);
    closed.port = '1';
    await using lost = closing(deadLetters(db.options(closed.href)));
    expect(await failing(lost.claim(fence, 'w'))).toMatchObject({
      code: 'LETTERS_UNAVAILABLE',
      transient: true,
    });
  });
});

describe.each(['mysql', 'mariadb'] as const)('a letter that %s can not take', (kind) => {
  test('is refused at once, and others are stored', async () => {
    await using db = await testMysqlDatabase(kind);
    await using store = closing(deadLetters({ mysql: { url: db.url } }));
    await store.claim(fence, 'w');
    const [rows] = await db.pool.query('select @@max_allowed_packet as longest');
    const length = Number((rows as { longest: number }[])[0]?.longest);
    const large = event('a', 1, {
      payloadFormat: 'text',
      payloadText: 'secret'.repeat(length / 6 + 1),
      bytes: length,
    });
    const error = await failing(store.park(fence, 'a', [letter(large, 'failed')], 'behind', ROOMY));
    expect(error).toMatchObject({ code: 'LETTERS_REFUSED', transient: false });
    expect(inspect(error, { depth: 9 })).not.toContain('secret');
    expect(await store.park(fence, 'b', lettersOf('b', 1, 1), 'behind', ROOMY)).toBe('stored');
    expect(await store.read(fence, 'a', 1)).toEqual([]);
  });
});

test('Postgres: a commit is on the disk, where the database says otherwise', async () => {
  await using db = await testDatabase();
  await using store = closing(deadLetters({ postgres: { url: db.url } }));
  await store.claim(fence, 'w');
  await db.pool.query('create table seen (setting text)');
  await db.pool.query(`create function look() returns trigger language plpgsql as
    $$ begin insert into seen values (current_setting('synchronous_commit')); return new; end $$`);
  await db.pool.query(
    'create trigger look before insert on strandline_dead_letters for each row execute function look()',
  );
  const settings: string[] = [];
  for (const [n, setting] of ['off', 'local', 'on'].entries()) {
    await db.pool.query(`alter database ${db.name} set synchronous_commit = ${setting}`);
    await using fresh = closing(deadLetters({ postgres: { url: db.url } }));
    await fresh.park(fence, 'a', lettersOf('a', n, n), 'behind', ROOMY);
    settings.push(setting);
  }
  const { rows } = await db.pool.query<{ setting: string }>('select setting from seen');
  expect(settings.length).toBe(3);
  expect(rows.map(({ setting }) => setting)).toEqual(['on', 'local', 'on']);
});

test('Postgres: a pooler may stand between', async () => {
  await using server = await startPostgres();
  await using bouncer = await startPgBouncer({ upstream: server });
  const options = { postgres: { url: bouncer.url } };
  await using store = closing(deadLetters(options));
  await using desk = closing(deadLetterDesk(options));
  await store.claim(fence, 'w');
  for (let n = 1; n <= 20; n += 1) {
    await store.park(fence, 'a', lettersOf('a', n, n), 'behind', ROOMY);
    await desk.retry('shop', {});
  }
  expect((await store.read(fence, 'a', 50)).map(({ event: { id } }) => id)).toEqual(
    Array.from({ length: 20 }, (_, i) => String(i + 1)),
  );
});
