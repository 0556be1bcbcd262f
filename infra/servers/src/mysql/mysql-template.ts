import { chown, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { exclusively } from '../process/exclusive.js';
import { createRunDirectory, removeRunDirectory, runsOnDisk } from '../process/run-directory.js';
import { runProgram } from '../process/run-program.js';
import {
  makePrivateDirectory,
  unprivilegedIdentity,
  writePrivateFile,
  type Identity,
  type Program,
} from '../process/unprivileged.js';
import { exists, makeCacheDirectory } from '../project-paths.js';
import type { MysqlBinaries } from './mysql-binaries.js';
import type { MysqlKind } from './mysql-kind.js';

/** A data directory, and who runs the server on it. */
interface Goal {
  readonly data: string;
  readonly identity: Identity;
}

/** Puts freshly initialised data into a folder: a copy, since making it takes seconds. */
export async function copyTemplate(kind: MysqlKind, binaries: MysqlBinaries, goal: Goal): Promise<void> {
  const template = await templateOf(kind, binaries);
  // Node's own copy of 150 MB takes the processor four times as long.
  await runProgram({ file: 'cp', args: ['-R', `${template}/.`, goal.data] }, '/');
  await handOver(goal);
}

/** The data that copies are made of, which is made itself where there is none of this version. */
export async function templateOf(kind: MysqlKind, binaries: MysqlBinaries): Promise<string> {
  const version = /\bVer (\S+)/.exec(await runProgram(binaries.version(), '/'))?.[1];
  if (version === undefined) throw new Error(`${kind.name} does not say which version it is`);
  const template = path.join(await makeCacheDirectory('templates'), `${kind.kind}-${version}`);
  await exclusively(`${template}.lock`, async () => {
    if (!(await exists(template))) await makeTemplate(kind, binaries, template);
  });
  return template;
}

/** Made in a run directory and moved, so that half of one is never used, and is removed should this be killed. */
async function makeTemplate(kind: MysqlKind, binaries: MysqlBinaries, template: string): Promise<void> {
  const directory = await createRunDirectory(`${kind.kind}-template`, await runsOnDisk());
  try {
    const data = path.join(directory, 'data');
    const identity = await unprivilegedIdentity(data, binaries.version());
    const temporary = await makePrivateDirectory(identity, path.join(directory, 'tmp'));
    const statements = path.join(directory, 'initial.sql');
    await writePrivateFile(identity, statements, await kind.local.initialStatements(binaries.share));
    const args = [...kind.local.initialisation, '--skip-log-bin'];
    await runProgram(reading(statements, binaries.server({ data, temporary }, args)), data, identity);
    if (kind.local.identityFile !== undefined) await rm(path.join(data, kind.local.identityFile));
    await rename(data, template);
  } finally {
    await removeRunDirectory(directory);
  }
}

/** The program with a file as its standard input. */
function reading(input: string, { file, args }: Program): Program {
  return { file: 'sh', args: ['-c', 'exec "$@" < "$0"', input, file, ...args] };
}

/** A copy belongs to who made it. */
async function handOver({ data, identity: { owner } }: Goal): Promise<void> {
  if (owner === undefined) return;
  for (const entry of await readdir(data, { recursive: true }))
    await chown(path.join(data, entry), owner.uid, owner.gid);
}
