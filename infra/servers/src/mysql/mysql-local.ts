import path from 'node:path';
import { unpackDebianPackages } from '../origins/debian-packages.js';
import { LocalProcess } from '../origins/local-process.js';
import { freePort } from '../process/free-port.js';
import { createRunDirectory, removeRunDirectory } from '../process/run-directory.js';
import {
  commandAs,
  makePrivateDirectory,
  unprivilegedIdentity,
  writePrivateFile,
} from '../process/unprivileged.js';
import { MysqlBinaries } from './mysql-binaries.js';
import type { MysqlKind } from './mysql-kind.js';
import { commonSettings, settingArguments, superuser, type MysqlOptions } from './mysql-options.js';
import { copyTemplate, templateOf } from './mysql-template.js';

/** A server from unpacked Debian packages, on a copy of data that was made once for its version. */
export async function launchLocalMysql(
  kind: MysqlKind,
  options: MysqlOptions,
  password: string,
): Promise<LocalProcess> {
  const binaries = await unpack(kind, options.version);
  const directory = await createRunDirectory(kind.kind);
  try {
    const data = path.join(directory, 'data');
    const identity = await unprivilegedIdentity(data, binaries.version());
    await copyTemplate(kind, binaries, { data, identity });
    const temporary = await makePrivateDirectory(identity, path.join(directory, 'tmp'));
    const initFile = path.join(directory, 'init.sql');
    await writePrivateFile(identity, initFile, loginStatements(password));
    const port = options.port ?? (await freePort());
    const own = { port: String(port), 'bind-address': '127.0.0.1', 'init-file': initFile };
    const settings = settingArguments(
      commonSettings(),
      kind.settings,
      kind.local.settings,
      options.settings ?? {},
      own,
    );
    return await LocalProcess.launch(
      {
        directory,
        logFile: path.join(directory, 'server.log'),
        command: commandAs(identity, binaries.server({ data, temporary }, settings), data),
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

/** Has all that a start needs below the project's cache. */
export async function prepareLocalMysql(kind: MysqlKind, version: string | undefined): Promise<void> {
  await templateOf(kind, await unpack(kind, version));
}

async function unpack({ name, versions, local }: MysqlKind, wanted?: string): Promise<MysqlBinaries> {
  const version = wanted ?? versions[0].version;
  const debian = versions.find((known) => known.version === version)?.debian;
  if (debian === undefined) throw new Error(`no suite of Debian that is known here has ${name} ${version}`);
  return new MysqlBinaries(local, debian, await unpackDebianPackages([local.package], debian.suite));
}

/** Run at each start; none of it reaches the binlog, so that a server and its replica can both do so. */
function loginStatements(password: string): string {
  return [
    'SET SESSION sql_log_bin = 0;',
    `ALTER USER ${superuser}@localhost IDENTIFIED BY '${password}';`,
    `CREATE USER IF NOT EXISTS ${superuser}@'%' IDENTIFIED BY '${password}';`,
    `GRANT ALL ON *.* TO ${superuser}@'%' WITH GRANT OPTION;`,
    '',
  ].join('\n');
}
