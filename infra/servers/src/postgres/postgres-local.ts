import { access, chmod, chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { LocalProcess } from '../origins/local-process.js';
import { freePort } from '../process/free-port.js';
import { createRunDirectory, removeDirectory } from '../process/run-directory.js';
import { runProgram } from '../process/run-program.js';
import { commandAs, unprivilegedIdentity, type Identity } from '../process/unprivileged.js';
import { locatePostgres } from './postgres-binaries.js';
import { defaultSettings, settingArguments, superuser, type PostgresOptions } from './postgres-options.js';

/** Where a cluster lies and the password that it was made with. */
interface Cluster {
  readonly dataDirectory: string;
  readonly password: string;
}

/** Postgres from the npm package's binaries, on a cluster that is made first where there is none. */
export async function launchLocalPostgres(
  options: PostgresOptions,
  password: string,
): Promise<{ process: LocalProcess; password: string }> {
  const binaries = await locatePostgres();
  const directory = await createRunDirectory('postgres');
  try {
    const home = options.persistTo ?? directory;
    await mkdir(home, { recursive: true });
    const probe = { file: binaries.initdb, args: ['--version'] };
    const identity = await unprivilegedIdentity(directory, probe);
    // The identity is proven on the run directory; a folder of the user's is handed over the same way.
    const data = path.join(home, 'data');
    await giveTo(identity, data);
    const cluster = await openCluster(binaries.initdb, { home, data, password, identity });

    const port = options.port ?? (await freePort());
    const settings = { ...defaultSettings, ...options.settings };
    const args = ['-D', data, '-c', 'listen_addresses=127.0.0.1', '-p', String(port), ...settingArguments(settings)];
    const process = await LocalProcess.launch(
      {
        directory,
        logFile: path.join(directory, 'server.log'),
        command: commandAs(identity, { file: binaries.postgres, args }, data),
        // Data that stays needs its last checkpoint. Data that goes doesn't, but the server must still end in its
        // own way rather than by SIGKILL: it then gives its System V memory segment back to the machine.
        stopSignal: options.persistTo === undefined ? 'SIGQUIT' : 'SIGINT',
        stopDeadlineMs: options.persistTo === undefined ? 5_000 : 30_000,
      },
      port,
      data,
    );
    return { process, password: cluster.password };
  } catch (error) {
    await removeDirectory(directory);
    throw error;
  }
}

async function giveTo(identity: Identity, directory: string): Promise<void> {
  const made = await mkdir(directory, { recursive: true });
  if (made === undefined) return; // a persisted cluster: it has the owner that it was made with
  await chmod(directory, 0o700);
  if (identity.owner !== undefined) await chown(directory, identity.owner.uid, identity.owner.gid);
}

async function openCluster(
  initdb: string,
  { home, data, password, identity }: { home: string; data: string; password: string; identity: Identity },
): Promise<Cluster> {
  const passwordFile = path.join(home, 'password');
  if (await exists(path.join(data, 'PG_VERSION'))) {
    return { dataDirectory: data, password: (await readFile(passwordFile, 'utf8')).trim() };
  }
  // initdb runs as the unprivileged user, so the file must be his while it reads it.
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (identity.owner !== undefined) await chown(passwordFile, identity.owner.uid, identity.owner.gid);
  const args = [
    ...['-D', data, '-U', superuser, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
    ...['--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'],
  ];
  try {
    await runProgram({ file: initdb, args }, home, identity);
  } catch (error) {
    await rm(data, { recursive: true, force: true }); // half a cluster must not pass for a whole one
    throw error;
  }
  return { dataDirectory: data, password };
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
