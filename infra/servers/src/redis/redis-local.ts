import path from 'node:path';
import { reasonOf } from '../errors.js';
import { unpackDebianPackages } from '../origins/debian-packages.js';
import { LocalProcess } from '../origins/local-process.js';
import { freePort } from '../process/free-port.js';
import { createRunDirectory, removeRunDirectory } from '../process/run-directory.js';
import { findOnPath, runProgram } from '../process/run-program.js';
import { commandAs, unprivilegedIdentity, writePrivateFile, type Program } from '../process/unprivileged.js';
import { defaultArguments, type RedisOptions } from './redis-options.js';

/** Debian 12 has 7.0, and older ones lack the multi-part append-only file that the tests look at. */
const oldestMajor = 7;

/** Redis from the PATH, or from unpacked Debian packages. */
export async function launchLocalRedis(options: RedisOptions, password: string): Promise<LocalProcess> {
  const redis = await locateRedis();
  const directory = await createRunDirectory('redis');
  try {
    const data = path.join(directory, 'data');
    const identity = await unprivilegedIdentity(data, redis(['--version']));
    const config = path.join(directory, 'redis.conf');
    await writePrivateFile(identity, config, `requirepass ${password}\n`);
    const port = options.port ?? (await freePort());
    const address = ['--bind', '127.0.0.1', '--port', String(port), '--dir', data];
    const server = redis([config, ...address, ...defaultArguments, ...(options.args ?? [])]);
    return await LocalProcess.launch(
      {
        directory,
        logFile: path.join(directory, 'server.log'),
        command: commandAs(identity, server, data),
        stopSignal: 'SIGKILL', // its data goes with it
        stopDeadlineMs: 5_000,
      },
      port,
      data,
    );
  } catch (error) {
    await removeRunDirectory(directory);
    throw error;
  }
}

async function locateRedis(): Promise<(args: readonly string[]) => Program> {
  const installed = await findOnPath('redis-server');
  if (installed !== undefined && (await majorVersion(installed)) >= oldestMajor) {
    return (args) => ({ file: installed, args });
  }
  try {
    const unpacked = await unpackDebianPackages(['redis-server']);
    return (args) => unpacked.program('usr/bin/redis-server', args);
  } catch (error) {
    const onPath =
      installed === undefined
        ? 'no redis-server on the PATH'
        : `${installed} is older than ${String(oldestMajor)}`;
    throw new Error(`${onPath}; from Debian packages: ${reasonOf(error)}`, { cause: error });
  }
}

async function majorVersion(file: string): Promise<number> {
  const version = await runProgram({ file, args: ['--version'] }, '/').catch(() => '');
  return Number(/v=(\d+)/.exec(version)?.[1] ?? 0);
}
