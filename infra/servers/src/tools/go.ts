import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { reasonOf, ServerError } from '../errors.js';
import { unpackDebianPackages } from '../origins/debian-packages.js';
import { exclusively } from '../process/exclusive.js';
import { findOnPath, runProgram } from '../process/run-program.js';
import { makeCacheDirectory } from '../project-paths.js';
import type { Tool } from './tool.js';

/**
 * Compiles a Go program of the standard library alone, and resolves with the file that came of it. Nothing is downloaded, and
 * nothing is written but below the project's cache. The first time the standard library is compiled too, which takes
 * half a minute of processor time; after that a second.
 *
 * @param directory of its `go.mod`
 * @throws ServerError `SERVER_UNAVAILABLE` where there is no Go.
 */
export async function buildGoProgram(directory: string): Promise<string> {
  const home = await makeCacheDirectory('go');
  const go = await goTool(home);
  const file = path.join(home, 'bin', path.basename(directory));
  await exclusively(path.join(home, 'build.lock'), async () => {
    // Not optimised, and without what a debugger needs: it is compiled more often than it runs.
    const how = ['-gcflags=all=-N -l', '-ldflags=-s -w', '-o', file];
    await runProgram(go.program(['build', ...how, '.']), directory, undefined, go.env);
  });
  return file;
}

/** `go` from the PATH, or from Debian packages that are unpacked into the project's cache. */
async function goTool(home: string): Promise<Tool> {
  const env = {
    HOME: path.join(home, 'home'), // where it would keep settings and counters
    GOCACHE: path.join(home, 'build'),
    GOPATH: path.join(home, 'path'),
    GOENV: 'off',
    GOFLAGS: '-mod=mod',
    GOPROXY: 'off',
    GOTOOLCHAIN: 'local',
    CGO_ENABLED: '0',
  };
  const installed = await findOnPath('go');
  if (installed !== undefined) return { env, program: (args) => ({ file: installed, args }) };
  try {
    const packages = await unpackDebianPackages(['golang-go'], undefined, /^golang-\d/);
    const root = (await readdir(packages.path('usr/lib'))).find((name) => /^go-\d/.test(name));
    if (root === undefined) throw new Error('the unpacked packages have no Go');
    return {
      env: { ...env, GOROOT: packages.path(`usr/lib/${root}`) },
      program: (args) => packages.program(`usr/lib/${root}/bin/go`, args),
    };
  } catch (error) {
    throw new ServerError(
      'SERVER_UNAVAILABLE',
      `No Go:\n- PATH: there is no go\n- Debian packages: ${reasonOf(error)}`,
      'Install Go 1.19 or newer, or run on Debian where apt-get can download packages.',
      error,
    );
  }
}
