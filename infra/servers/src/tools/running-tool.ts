import path from 'node:path';
import { createRunDirectory, removeRunDirectory } from '../process/run-directory.js';
import { freePort } from '../process/free-port.js';
import { SupervisedServer } from '../process/supervise.js';
import type { Program } from '../process/unprivileged.js';

/** A program that serves on a port of this host, and ends with this process, whatever ends that. */
export interface RunningTool extends AsyncDisposable {
  readonly port: number;
  /** Its own, which goes with it. */
  readonly directory: string;
  /** The end of what it has said. */
  logTail(): Promise<string>;
}

/**
 * Starts a program in a folder of its own. It may not serve yet.
 *
 * @param command of a free port
 * @param env beside the variables of this process
 */
export async function startTool(
  name: string,
  command: (port: number) => Program,
  env: Readonly<Record<string, string>>,
): Promise<RunningTool> {
  const directory = await createRunDirectory(name);
  try {
    const port = await freePort();
    const server = await SupervisedServer.launch({
      directory,
      logFile: path.join(directory, 'server.log'),
      command: { ...command(port), cwd: directory, env },
      stopSignal: 'SIGKILL',
      stopDeadlineMs: 1_000,
    });
    await server.start();
    return {
      port,
      directory,
      logTail: () => server.logTail(),
      [Symbol.asyncDispose]: () => server.close(),
    };
  } catch (error) {
    await removeRunDirectory(directory);
    throw error;
  }
}
