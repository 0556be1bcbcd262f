import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { main } from '../src/main.js';

async function strandline(...args: string[]) {
  const written = { stdout: '', stderr: '' };
  const exitCode = await main(args, {
    stdin: Readable.from([]),
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
  });
  return { exitCode, ...written };
}

describe('the command', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test('--version prints the version of the package', async () => {
    const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    expect(await strandline('--version')).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
  });

  test.each([
    [['--help']],
    [['help']],
    [['run', '--help']],
    [['help', 'run']],
    [['status', '--help']],
    [['doctor', '--help']],
  ])('%j prints the usage and the exit codes to stdout', async (args) => {
    const { exitCode, stdout, stderr } = await strandline(...args);
    expect(exitCode).toBe(0);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^Usage: strandline /);
    expect(stdout).toContain('wrong arguments, or a wrong config');
  });

  test('the help of run names every config that is looked for, and every option', async () => {
    const { stdout } = await strandline('run', '--help');
    for (const word of ['.config.ts', '.config.mts', '.config.js', '.config.mjs', '--log-level', '--verbose'])
      expect(stdout).toContain(word);
  });

  test('no command is answered with the usage on stderr, and 2', async () => {
    const { exitCode, stdout, stderr } = await strandline();
    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('Usage: strandline ');
  });

  test.each([
    ['an unknown command', ['rnu'], "unknown command 'rnu'"],
    ['an unknown option', ['run', '--fast'], "unknown option '--fast'"],
    ['an unknown option before the command', ['--fast', 'run'], "unknown option '--fast'"],
    ['an option without its value', ['run', '--config'], "option '-c, --config <file>' argument missing"],
    ['too many arguments', ['run', 'strandline.config.ts'], "too many arguments for 'run'"],
    [
      'an unknown level',
      ['run', '--log-level', 'loud'],
      'Use one of trace, debug, info, warn, error, fatal, silent.',
    ],
  ])('%s is a usage error, and 2', async (_, args, says) => {
    const { exitCode, stdout, stderr } = await strandline(...args);
    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(says);
    expect(stderr).toContain('(strandline --help prints the usage)');
  });

  test('an unknown level in LOG_LEVEL is a usage error that names the variable', async () => {
    vi.stubEnv('LOG_LEVEL', 'loud');
    const { exitCode, stderr } = await strandline('run');
    expect(exitCode).toBe(2);
    expect(stderr).toContain("from env 'LOG_LEVEL'");
  });
});
