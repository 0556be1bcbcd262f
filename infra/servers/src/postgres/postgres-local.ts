import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { LocalProcess } from '../origins/local-process.js';
import { freePort } from '../process/free-port.js';
import { createRunDirectory, removeRunDirectory } from '../process/run-directory.js';
import {
  commandAs,
  unprivilegedIdentity,
  writePrivateFile,
  type Identity,
  type Program,
} from '../process/unprivileged.js';
import { exists } from '../project-paths.js';
import { locatePostgres, type PostgresBinaries } from './postgres-binaries.js';
import {
  defaultSettings,
  localSettings,
  settingArguments,
  superuser,
  type PostgresOptions,
} from './postgres-options.js';

/** Where a cluster lies, whether it must be made first, and the password that it has or gets. */
interface Cluster {
  readonly home: string;
  readonly data: string;
  readonly isNew: boolean;
  readonly password: string;
}

/** Written when a cluster is complete, so that half of one, left by a crash, does not pass for it. */
const completeFile = 'complete';
const passwordFile = 'password';

/** Postgres from the npm package's binaries, on a cluster that is made first where there is none. */
export async function launchLocalPostgres(
  options: PostgresOptions,
  password: string,
): Promise<{ process: LocalProcess; password: string }> {
  const binaries = await locatePostgres();
  const directory = await createRunDirectory('postgres');
  try {
    const home = options.persistTo ?? directory;
    const probe = { file: binaries.initdb, args: ['--version'] };
    const identity = await unprivilegedIdentity(path.join(home, 'data'), probe);
    const cluster = await openCluster(home, password, identity);
    const process = await launch(options, { binaries, directory, identity, cluster });
    await writeFile(path.join(cluster.home, completeFile), '');
    return { process, password: cluster.password };
  } catch (error) {
    await removeRunDirectory(directory);
    throw error;
  }
}

async function openCluster(home: string, password: string, identity: Identity): Promise<Cluster> {
  const data = path.join(home, 'data');
  if (await exists(path.join(home, completeFile))) {
    const known = await readFile(path.join(home, passwordFile), 'utf8');
    return { home, data, isNew: false, password: known.trim() };
  }
  for (const half of await readdir(data)) await rm(path.join(data, half), { recursive: true });
  await writePrivateFile(identity, path.join(home, passwordFile), password);
  return { home, data, isNew: true, password };
}

interface Launch {
  readonly binaries: PostgresBinaries;
  readonly directory: string;
  readonly identity: Identity;
  readonly cluster: Cluster;
}

async function launch(
  options: PostgresOptions,
  { binaries, directory, identity, cluster }: Launch,
): Promise<LocalProcess> {
  const port = options.port ?? (await freePort());
  const settings = settingArguments({ ...defaultSettings, ...localSettings, ...options.settings });
  const args = ['-D', cluster.data, '-c', 'listen_addresses=127.0.0.1', '-p', String(port), ...settings];
  const isKept = options.persistTo !== undefined;
  return LocalProcess.launch(
    {
      directory,
      logFile: path.join(directory, 'server.log'),
      ...(cluster.isNew
        ? { prepare: commandAs(identity, initialisation(binaries, cluster), cluster.data) }
        : {}),
      command: commandAs(identity, { file: binaries.postgres, args }, cluster.data),
      // Data that stays needs its last checkpoint. Data that goes doesn't, but the server must still end in its own
      // way rather than by SIGKILL: it then gives its System V memory segment back to the machine.
      stopSignal: isKept ? 'SIGINT' : 'SIGQUIT',
      stopDeadlineMs: isKept ? 30_000 : 5_000,
    },
    port,
    cluster.data,
  );
}

function initialisation({ initdb }: PostgresBinaries, { home, data }: Cluster): Program {
  return {
    file: initdb,
    args: [
      ...['-D', data, '-U', superuser, `--pwfile=${path.join(home, passwordFile)}`, '--auth=scram-sha-256'],
      ...['--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'],
    ],
  };
}
