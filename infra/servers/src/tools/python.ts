import { readdir } from 'node:fs/promises';
import { reasonOf, ServerError } from '../errors.js';
import { unpackDebianPackages } from '../origins/debian-packages.js';
import { findOnPath, runProgram } from '../process/run-program.js';
import type { Tool } from './tool.js';

/** Below it nothing is tried. */
const OLDEST = [3, 9] as const;

/**
 * Python 3.9 or newer with its standard library, from the PATH or from Debian packages that are unpacked into the
 * project's cache. It writes no compiled files beside what it runs.
 *
 * @throws ServerError `SERVER_UNAVAILABLE` with the reason of each way.
 */
export async function pythonTool(): Promise<Tool> {
  const env = { PYTHONDONTWRITEBYTECODE: '1' };
  const installed = await findOnPath('python3');
  const version = installed === undefined ? null : await versionOf(installed);
  if (installed !== undefined && version !== null && isNewEnough(version)) {
    return { env, program: (args) => ({ file: installed, args }) };
  }
  try {
    const packages = await unpackDebianPackages(['python3'], undefined, /^python3\.\d+$/);
    const name = (await readdir(packages.path('usr/bin'))).find((file) => /^python3\.\d+$/.test(file));
    if (name === undefined) throw new Error('the unpacked packages have no python3.x');
    return {
      env: { ...env, PYTHONHOME: packages.path('usr') },
      program: (args) => packages.program(`usr/bin/${name}`, args),
    };
  } catch (error) {
    const onPath =
      installed === undefined
        ? 'there is no python3'
        : `${installed} is ${version?.join('.') ?? 'not to be started'}`;
    throw new ServerError(
      'SERVER_UNAVAILABLE',
      `No Python ${OLDEST.join('.')} or newer:\n- PATH: ${onPath}\n- Debian packages: ${reasonOf(error)}`,
      'Install python3, or run on Debian where apt-get can download packages.',
      error,
    );
  }
}

async function versionOf(file: string): Promise<number[] | null> {
  const said = await runProgram({ file, args: ['--version'] }, '/').catch(() => '');
  const [, major, minor] = /^Python (\d+)\.(\d+)/.exec(said) ?? [];
  return major === undefined || minor === undefined ? null : [Number(major), Number(minor)];
}

function isNewEnough([major = 0, minor = 0]: readonly number[]): boolean {
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
