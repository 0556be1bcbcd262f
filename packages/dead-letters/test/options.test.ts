import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { deadLetterDesk, deadLetters, LettersError, type DeadLettersOptions } from '../src/index.js';

const postgres = { url: 'postgres://u:secret@host/shop' };
const mysql = { url: 'mysql://u:secret@host/shop' };

describe('the name, without credentials', () => {
  it.each<[string, DeadLettersOptions]>([
    ['postgres://host:5432/shop', { postgres }],
    [
      'postgres://host:7000/shop',
      { postgres: { url: 'postgresql://u:s%40@host:7000/shop?sslmode=disable' } },
    ],
    [
      'postgres://a:1/b',
      { postgres: { connection: { host: 'a', port: 1, database: 'b', password: 'secret' } } },
    ],
    ['postgres://host:5432/shop', { postgres: { connection: { connectionString: postgres.url } } }],
    ['mysql://host:3306/shop', { mysql }],
    ['mysql://::1:7000/', { mysql: { url: 'mysql://u:s%40@[::1]:7000' } }],
    ['mysql:///run/my.sock/b', { mysql: { connection: { socketPath: '/run/my.sock', database: 'b' } } }],
  ])('%s', async (name, options) => {
    const store = deadLetters(options);
    expect(store.name).toBe(name);
    await store.close();
  });
});

describe('a wrong option is named, with its rule', () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /expected object/],
    ['no database', {}, /either postgres or mysql/],
    ['two databases', { postgres, mysql }, /either postgres or mysql/],
    [
      'neither url nor connection',
      { postgres: {} },
      /postgres\.url is missing: give either url or connection/,
    ],
    ['both', { mysql: { ...mysql, connection: {} } }, /give either url or connection/],
    ['another scheme', { postgres: mysql }, /must look like postgres:/],
    ['a URL that is none', { postgres: { url: 'postgres://u:secret@host:port/x' } }, /can not be read/],
    ['a MySQL URL that is none', { mysql: { url: 'mysql://u:secret@host:port/x' } }, /can not be read/],
    ['bad percent signs', { mysql: { url: 'mysql://u:%secret@host/x' } }, /can not be read/],
    ['an unknown option', { postgres, shema: 'x' }, /shema/],
    ['a prefix with blanks', { postgres, prefix: 'a b' }, /prefix is "a b": must be 1 to 31/],
    ['a prefix that is too long', { postgres, prefix: 'a'.repeat(32) }, /must be 1 to 31/],
    ['a timeout of 0', { mysql, statementTimeout: 0 }, /statementTimeout is 0: must be at least 1 ms/],
    ['a timeout without end', { mysql, connectTimeout: Infinity }, /connectTimeout is Infinity/],
  ])('%s', (_, options, says) => {
    for (const make of [deadLetters, deadLetterDesk]) {
      const error = thrownBy(() => make(options as DeadLettersOptions));
      expect(error).toBeInstanceOf(LettersError);
      expect(error).toMatchObject({ code: 'LETTERS_CONFIG', transient: false });
      expect((error as LettersError).message).toMatch(says);
      expect(inspect(error, { depth: 9 })).not.toContain('secret');
    }
  });
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return expect.fail('nothing was thrown');
}
