import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.js';
import { tempFolder } from '../temp-folder.js';

/** A pipeline whose desk tells what it was asked in its counts' place. */
const desk = (name: string): string => `{
  name: '${name}', start() {}, stop: async () => {}, status() {}, finished: Promise.resolve(),
  deadLetters: {
    list: async () => [], show: async () => null, skip: async () => null, discard: async () => 0,
    counts: async () => ({ keys: 0, waiting: 0, skipped: 0 }),
    retry: async (filter) => ['${name} ' + JSON.stringify(filter)],
  },
}`;

const CONFIGS = {
  'one.mjs': `export default ${desk('orders')};`,
  'two.mjs': `export default [${desk('orders')}, ${desk('mails')}];`,
  'none.mjs': `export default { ...${desk('orders')}, deadLetters: null };`,
  'older.mjs': `const { deadLetters, ...older } = ${desk('orders')}; export default older;`,
  'away.mjs': `export default { ...${desk('orders')}, deadLetters: { retry: async () => {
    throw Object.assign(new Error('It is away. Start it.'), { code: 'LETTERS_UNAVAILABLE', remedy: 'Start it.' });
  } } };`,
};

async function deadLetters(config: keyof typeof CONFIGS, ...args: string[]) {
  using temp = tempFolder(CONFIGS);
  const written = { stdout: '', stderr: '' };
  const output = (name: 'stdout' | 'stderr') => ({
    write: (text: string, done?: () => void) => {
      written[name] += text;
      done?.();
    },
  });
  const [command = '', ...rest] = args;
  const exitCode = await main(['dead-letters', command, '--config', temp.file(config), ...rest], {
    stdin: Readable.from([]),
    stdout: output('stdout'),
    stderr: output('stderr'),
  });
  return { exitCode, ...written };
}

describe('the arguments of dead-letters', () => {
  test('the filters are what was typed, and nothing else', async () => {
    const all = [
      '--key',
      '-a b',
      '--type',
      'paid',
      '--error',
      '',
      '--older-than',
      '10m',
      '--state',
      'skipped',
    ];
    const { exitCode, stdout } = await deadLetters('one.mjs', 'retry', '--json', ...all);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      released: ['orders {"key":"-a b","type":"paid","error":"","olderThan":600000,"state":"skipped"}'],
    });
    expect((await deadLetters('one.mjs', 'retry', '--yes')).stdout).toContain('orders {}');
  });

  test.each([
    ['a number that is none', ['list', '--limit', '0'], 'Use a whole number from 1 to 999999.'],
    ['a time that is none', ['list', '--older-than', '10'], 'Use a number with ms, s, m, h or d'],
    ['a state that is none', ['list', '--state', 'gone'], 'Allowed choices are held, waiting, skipped'],
    [
      'a state that can not be retried',
      ['retry', '--state', 'handled'],
      'Allowed choices are waiting, skipped.',
    ],
    ['no key', ['discard', '--yes'], "required option '-k, --key <key>' not specified"],
    ['no number', ['show'], "missing required argument 'number'"],
    ['no such command', ['drop'], "unknown command 'drop'"],
  ])('%s is a usage error, and 2', async (_, args, says) => {
    const { exitCode, stdout, stderr } = await deadLetters('one.mjs', ...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(says);
  });

  test.each([
    ['to skip', ['skip', '--key', 'a'], 'To skip needs a confirmation'],
    ['to discard', ['discard', '--key', 'a'], 'To discard needs a confirmation'],
    ['to retry everything', ['retry'], 'To retry everything needs a confirmation'],
    ['to retry all of a state', ['retry', '--state', 'waiting'], 'To retry everything needs a confirmation'],
  ])('%s without --yes and without a terminal is refused, with 2', async (_, args, says) => {
    const { exitCode, stdout, stderr } = await deadLetters('one.mjs', ...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(`strandline: CLI_CONFIRMATION\n  ${says}`);
    expect(stderr).toContain('Add --yes');
  });

  test('the pipeline need be named when there are several', async () => {
    const unnamed = await deadLetters('two.mjs', 'list');
    expect(unnamed.exitCode).toBe(2);
    expect(unnamed.stderr).toMatch(
      /^strandline: CLI_PIPELINE\n {2}.* has several pipelines\.\n {2}Name one with --pipeline: orders, mails\.\n$/,
    );
    const named = await deadLetters('two.mjs', 'retry', '--pipeline', 'mails', '--key', 'a');
    expect(named.stdout).toContain('mails {"key":"a"}');
    const wrong = await deadLetters('two.mjs', 'list', '--pipeline', 'mail');
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain('has no pipeline by the name mail.\n  It has orders, mails.');
  });

  test.each(['none.mjs', 'older.mjs'] as const)('a pipeline without dead letters: 2 (%s)', async (config) => {
    const { exitCode, stderr } = await deadLetters(config, 'list');
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^strandline: CLI_NO_DEAD_LETTERS\n/);
  });

  test('what fails at the table: 1, with code and remedy', async () => {
    const { exitCode, stdout, stderr } = await deadLetters('away.mjs', 'retry', '--key', 'a');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toBe('strandline: LETTERS_UNAVAILABLE (pipeline orders)\n  It is away.\n  Start it.\n');
  });

  test('what is not found: 1', async () => {
    for (const args of [
      ['show', '7'],
      ['skip', '--key', 'a', '--yes'],
      ['discard', '--key', 'a', '--yes'],
    ]) {
      const { exitCode, stderr } = await deadLetters('one.mjs', ...args);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^strandline: CLI_NOTHING_FOUND \(pipeline orders\)\n/);
    }
  });

  test.each(['list', 'show', 'retry', 'skip', 'discard', 'export'])(
    'the help of %s names its options',
    async (name) => {
      const { exitCode, stdout } = await deadLetters('one.mjs', name, '--help');
      expect(exitCode).toBe(0);
      for (const option of ['--config', '--pipeline', '--json', '--verbose'])
        expect(stdout).toContain(option);
    },
  );
});
