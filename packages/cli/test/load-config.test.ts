import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { configNames, findConfig } from '../src/find-config.js';
import { loadConfig } from '../src/load-config.js';
import { tempFolder } from './temp-folder.js';

/** What a config exports, without the packages behind it. */
const PIPELINE = `{ name: 'orders', start() {}, stop() {}, status() {}, finished: Promise.resolve() }`;

const names = (pipelines: readonly { name: string }[]): string[] => pipelines.map(({ name }) => name);

describe('a config is looked for', () => {
  test.each(configNames.map((name, index) => [name, configNames.slice(index)] as const))(
    'by the name %s, before those after it in the list',
    (name, present) => {
      using temp = tempFolder(Object.fromEntries(present.map((file) => [file, ''])));
      expect(findConfig(undefined, temp.folder)).toBe(temp.file(name));
    },
  );

  test('and a folder without one is told, with the names', () => {
    using temp = tempFolder({ 'strandline.config.json': '{}', 'sub/strandline.config.ts': '' });
    expect(() => findConfig(undefined, temp.folder)).toThrow(
      expect.objectContaining({
        code: 'CLI_CONFIG_MISSING',
        message: expect.stringMatching(
          /There is no config in .*: neither strandline\.config\.ts nor /,
        ) as string,
      }),
    );
  });

  test('where --config says, relative to the working directory, and nowhere else', () => {
    using temp = tempFolder({ 'strandline.config.ts': '', 'sub/other.ts': '' });
    expect(findConfig('sub/other.ts', temp.folder)).toBe(temp.file('sub/other.ts'));
    expect(findConfig(temp.file('sub/other.ts'), '/')).toBe(temp.file('sub/other.ts'));
    for (const missing of ['other.ts', 'sub']) {
      expect(() => findConfig(missing, temp.folder)).toThrow(
        expect.objectContaining({
          code: 'CLI_CONFIG_MISSING',
          message: expect.stringContaining(`no file ${path.join(temp.folder, missing)}.`) as string,
        }),
      );
    }
  });
});

describe('a config is run', () => {
  test.each([
    ['TypeScript', 'c.ts', `const p: { name: string } = ${PIPELINE}; export default p;`],
    [
      'an enum, which type stripping can not do',
      'c.mts',
      `enum N { A } export default { ...${PIPELINE}, name: N[0] }`,
    ],
    ['JavaScript modules', 'c.mjs', `export default ${PIPELINE};`],
    [
      'JavaScript modules in a package that is not of type module',
      'c.js',
      `import 'node:fs'; export default ${PIPELINE};`,
    ],
    ['CommonJS', 'c.js', `require('node:fs'); module.exports = ${PIPELINE};`],
    ['await at the top level', 'c.ts', `export default await Promise.resolve(${PIPELINE});`],
    ['import.meta', 'c.ts', `if (!import.meta.url.endsWith('c.ts')) throw 1; export default ${PIPELINE};`],
    [
      'TypeScript beside it, by either ending',
      'c.ts',
      `import { a } from './part.js'; import { a as b } from './part.ts'; export default a && b;`,
    ],
  ])('with %s', async (_, name, text) => {
    using temp = tempFolder({ [name]: text, 'part.ts': `export const a: object = ${PIPELINE};` });
    expect(await loadConfig(temp.file(name))).toHaveLength(1);
  });

  test('and may export a list', async () => {
    using temp = tempFolder({ 'c.ts': `export default [${PIPELINE}, { ...${PIPELINE}, name: 'mails' }];` });
    expect(names(await loadConfig(temp.file('c.ts')))).toEqual(['orders', 'mails']);
  });

  test('with the package strandline of this command where there is no other', async () => {
    using temp = tempFolder({
      'c.ts': `import * as strandline from 'strandline'; export default { ...${PIPELINE}, name: typeof strandline.definePipeline };`,
    });
    expect(names(await loadConfig(temp.file('c.ts')))).toEqual(['function']);
  });

  test('with the package strandline of its own where it has one', async () => {
    using temp = tempFolder({
      'c.ts': `import { own } from 'strandline'; export default own;`,
      'node_modules/strandline/package.json': `{ "type": "module", "exports": "./index.js" }`,
      'node_modules/strandline/index.js': `export const own = { ...${PIPELINE}, name: 'own' };`,
    });
    expect(names(await loadConfig(temp.file('c.ts')))).toEqual(['own']);
  });
});

describe('CLI_CONFIG_INVALID says what the default export is', () => {
  test.each([
    ['is missing', `export const pipeline = ${PIPELINE};`],
    ['is missing', `import 'node:fs'; export {};`],
    ['is null', `export default null;`],
    ['is a function', `export default () => (${PIPELINE});`],
    ['is a string', `export default 'postgres://shop:hunter2@db/shop';`],
    ['is a promise', `export default Promise.resolve(${PIPELINE});`],
    ['is an object without name, start(), stop(), status(), finished', `export default {};`],
    ['is an object without stop()', `export default { ...${PIPELINE}, stop: 1 };`],
    ['is an empty list', `export default [];`],
    ['[1], is a number', `export default [${PIPELINE}, 1];`],
    ['has two pipelines by the name orders', `const p = ${PIPELINE}; export default [p, { ...p }];`],
  ])('it %s', async (says, text) => {
    using temp = tempFolder({ 'c.ts': text });
    await expect(loadConfig(temp.file('c.ts'))).rejects.toMatchObject({
      code: 'CLI_CONFIG_INVALID',
      message: expect.stringContaining(says) as string,
    });
    await expect(loadConfig(temp.file('c.ts'))).rejects.toMatchObject({
      message: expect.stringMatching(`^The default export of ${temp.file('c.ts')}((?!hunter2).)*$`) as string,
    });
  });
});

describe('CLI_CONFIG_FAILED says why', () => {
  test.each([
    ['it throws', `throw new Error('no DATABASE_URL')`, 'Error: no DATABASE_URL', 'Correct the config'],
    [
      'it does not compile',
      `const url = 'hunter2';\nexport default {{;`,
      'Unexpected token',
      'Correct the config',
    ],
    [
      'an import is missing',
      `import 'no-such-package'`,
      "Cannot find module 'no-such-package'",
      'Install what',
    ],
    [
      'it throws a password',
      `throw new Error('postgres://a:hunter2@b')`,
      'postgres://***@b',
      'Correct the config',
    ],
    [
      'it throws something else',
      `throw { password: 'hunter2' }`,
      'no error was thrown (object)',
      'Correct the config',
    ],
  ])('%s', async (_, text, says, remedy) => {
    using temp = tempFolder({ 'c.ts': text });
    const error: unknown = await loadConfig(temp.file('c.ts')).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'CLI_CONFIG_FAILED',
      remedy: expect.stringContaining(remedy) as string,
    });
    expect(String(error)).toContain(temp.file('c.ts'));
    expect(String(error)).toContain(says);
    expect(String(error)).not.toContain('hunter2');
  });

  test('but an error of ours, from wrong options, stays as it is', async () => {
    using temp = tempFolder({
      'c.ts': `import { definePipeline } from 'strandline'; export default definePipeline({ name: 'No!' });`,
    });
    await expect(loadConfig(temp.file('c.ts'))).rejects.toMatchObject({ code: 'PIPELINE_CONFIG' });
  });
});
