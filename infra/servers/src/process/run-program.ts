import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { commandAs, type Identity, type Program } from './unprivileged.js';

const execute = promisify(execFile);

/**
 * Runs a short-lived program to its end and gives what it printed; what it complained is in the error.
 *
 * @param env beside the variables of this process
 */
export async function runProgram(
  program: Program,
  cwd: string,
  identity?: Identity,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { file, args, ...how } =
    identity === undefined ? { ...program, cwd } : commandAs(identity, program, cwd);
  const { stdout } = await execute(file, [...args], {
    ...how,
    env: { ...process.env, ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

/** Whether a program of that name is on the PATH, and where. */
export async function findOnPath(name: string): Promise<string | undefined> {
  try {
    return (await runProgram({ file: 'sh', args: ['-c', `command -v ${name}`] }, '/')).trim() || undefined;
  } catch {
    return undefined;
  }
}
