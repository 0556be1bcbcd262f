import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.js';
import { tempFolder } from '../temp-folder.js';

/** A pipeline whose desks tell what they were asked. */
const PIPELINE = `{
  name: 'orders', start() {}, stop: async () => {}, status() {}, finished: Promise.resolve(),
  offset: {
    show: async () => ({ offset: null, replaced: null, log: null, trouble: null }),
    set: async (place) => ({ from: null, to: JSON.stringify(place), direction: null, bytes: null }),
    import: async (text) => ({ from: null, to: text, direction: null, bytes: null }),
    reset: async () => { throw Object.assign(new Error('It runs. Stop it.'), { code: 'PIPELINE_RUNNING', remedy: 'Stop it.' }); },
    undo: async () => ({ from: 'a', to: 'b', direction: 'back', bytes: 1 }),
    export: async () => '{"an": "offset"}\\n',
  },
  bookmarks: {
    create: async (name, at) => ({ name, position: JSON.stringify(at) ?? 'now', identity: {}, committedAt: null, createdAt: '' }),
    list: async () => [], show: async () => null, delete: async () => false,
  },
}`;

const CONFIGS = {
  'one.mjs': `export default ${PIPELINE};`,
  'older.mjs': `const { offset, bookmarks, ...older } = ${PIPELINE}; export default older;`,
  'offset.json': 'the text',
};

async function strandline(
  config: 'one.mjs' | 'older.mjs',
  group: string,
  command: string,
  ...args: string[]
) {
  using temp = tempFolder(CONFIGS);
  const written = { stdout: '', stderr: '' };
  const output = (name: 'stdout' | 'stderr') => ({
    write: (text: string, done?: () => void) => {
      written[name] += text;
      done?.();
    },
  });
  const given = args.map((arg) => (arg.startsWith('@') ? temp.file(arg.slice(1) as 'offset.json') : arg));
  const exitCode = await main([group, command, '--config', temp.file(config), ...given], {
    stdin: Readable.from([]),
    stdout: output('stdout'),
    stderr: output('stderr'),
  });
  return { exitCode, ...written };
}

describe('the arguments of offsets and bookmark', () => {
  test.each([
    ['16/B374D848:3', '{"position":"16/B374D848:3"}'],
    ['before-deploy', '{"bookmark":"before-deploy"}'],
    ['2026-01-31T13:00:00+01:00', '{"time":"2026-01-31T12:00:00.000000Z"}'],
    ['earliest', '"earliest"'],
  ])('the place %s', async (place, expected) => {
    const set = await strandline('one.mjs', 'offsets', 'set', place, '--yes', '--json');
    expect(JSON.parse(set.stdout)).toMatchObject({ pipeline: 'orders', to: expected });
    const made = await strandline('one.mjs', 'bookmark', 'create', 'a', '--at', place, '--json');
    expect(JSON.parse(made.stdout)).toMatchObject({ bookmark: { position: expected } });
  });

  test.each([
    ['a place that is none', ['offsets', 'set', 'two words', '--yes'], 'Use a bookmark, a position'],
    ['no place', ['offsets', 'set', '--yes'], "missing required argument 'place'"],
    ['no name', ['bookmark', 'create'], "missing required argument 'name'"],
    ['no such command', ['offsets', 'drop'], "unknown command 'drop'"],
  ])('%s is a usage error, and 2', async (_, [group = '', command = '', ...args], says) => {
    const { exitCode, stdout, stderr } = await strandline('one.mjs', group, command, ...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(says);
  });

  test.each([
    ['offsets', 'set', 'earliest'],
    ['offsets', 'reset'],
    ['offsets', 'undo'],
    ['offsets', 'import', '@offset.json'],
    ['bookmark', 'delete', 'a'],
  ])('%s %s without --yes and without a terminal is refused, with 2', async (group, command, ...args) => {
    const { exitCode, stdout, stderr } = await strandline('one.mjs', group, command, ...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('strandline: CLI_CONFIRMATION\n');
    expect(stderr).toContain('Add --yes');
  });

  test('import reads the file, and export writes what can be imported', async () => {
    const { stdout } = await strandline('one.mjs', 'offsets', 'import', '@offset.json', '--yes', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ to: 'the text' });
    expect((await strandline('one.mjs', 'offsets', 'export')).stdout).toBe('{"an": "offset"}\n');
    const missing = await strandline('one.mjs', 'offsets', 'import', '/nowhere', '--yes');
    expect(missing.exitCode).toBe(1);
    expect(missing.stderr).toMatch(/^strandline: CLI_FILE \(pipeline orders\)\n/);
  });

  test('what is refused or not found: 1, with code and remedy', async () => {
    const running = await strandline('one.mjs', 'offsets', 'reset', '--yes');
    expect({ exitCode: running.exitCode, stdout: running.stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(running.stderr).toBe('strandline: PIPELINE_RUNNING (pipeline orders)\n  It runs.\n  Stop it.\n');
    for (const args of [
      ['show', 'a'],
      ['delete', 'a', '--yes'],
    ]) {
      const { exitCode, stderr } = await strandline('one.mjs', 'bookmark', args[0] ?? '', ...args.slice(1));
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^strandline: CLI_NOTHING_FOUND \(pipeline orders\)\n/);
    }
  });

  test.each(['offsets', 'bookmark'])('%s of an older pipeline: 2', async (group) => {
    const { exitCode, stderr } = await strandline('older.mjs', group, group === 'offsets' ? 'show' : 'list');
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^strandline: CLI_PIPELINE\n/);
  });

  test.each([
    ...['show', 'set', 'reset', 'undo', 'export', 'import'].map((name) => ['offsets', name]),
    ...['create', 'list', 'show', 'delete'].map((name) => ['bookmark', name]),
  ])('the help of %s %s names its options', async (group = '', name = '') => {
    const { exitCode, stdout } = await strandline('one.mjs', group, name, '--help');
    expect(exitCode).toBe(0);
    for (const option of ['--config', '--pipeline', '--json', '--verbose']) expect(stdout).toContain(option);
  });
});
