import { afterEach, expect, test, vi } from 'vitest';
import { binlogTool } from '../src/index.js';
import { runProgram } from '../src/process/run-program.js';

afterEach(() => void vi.unstubAllEnvs());

test.each([
  ['mysql', /^\S*mysqlbinlog\s+Ver 9\./],
  ['mariadb', /^\S*mariadb-binlog (Ver|from) .*11\.8/s],
] as const)('%s: the tool runs, of the newest version, from below the cache', async (kind, version) => {
  const tool = await binlogTool(kind);
  expect(await runProgram(tool(['--no-defaults', '--version']), '/')).toMatch(version);
  expect(tool([]).file).toMatch(/\.cache\/servers\/debian\//);
});
