import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { link, mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { fileError } from './errors.js';

/** The names in a directory; none when there is no such directory. */
export async function namesIn(directory: string): Promise<string[]> {
  return (await entriesIn(directory)).map(({ name }) => name);
}

/** The directories in a directory, by name. */
export async function directoriesIn(directory: string): Promise<string[]> {
  return (await entriesIn(directory)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

async function entriesIn(directory: string): Promise<Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw fileError(error, directory);
  }
}

/** The text of a file; undefined when there is none. */
export async function readWhole(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw fileError(error, file);
  }
}

/** Replaces a file. After a crash at any point it is whole: the former one or this one. */
export async function writeWhole(file: string, text: string): Promise<void> {
  await throughTemporary(file, text, async (temporary) => {
    await rename(temporary, file);
  });
}

/** Makes a file; false when it is there already. The file system lets only one process succeed. */
export async function createWhole(file: string, text: string): Promise<boolean> {
  try {
    await throughTemporary(file, text, async (temporary) => {
      await link(temporary, file);
      await unlink(temporary);
    });
    return true;
  } catch (error) {
    if (hasCode((error as Error).cause, 'EEXIST')) return false;
    throw error;
  }
}

/** Whether there was one. */
export async function removeFile(file: string): Promise<boolean> {
  try {
    await unlink(file);
    await syncDirectory(path.dirname(file));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw fileError(error, file);
  }
}

export async function makeDirectory(directory: string): Promise<void> {
  const made = await mkdir(directory, { recursive: true });
  if (made === undefined) return;
  for (let each = directory; each !== path.dirname(made); each = path.dirname(each))
    await syncDirectory(path.dirname(each));
}

/** A rename is durable only with its directory. Windows has no such call, and does it by itself. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}

async function throughTemporary(
  file: string,
  text: string,
  put: (temporary: string) => Promise<void>,
): Promise<void> {
  const directory = path.dirname(file);
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await makeDirectory(directory);
    await writeAndSync(temporary, text);
    await put(temporary);
    await syncDirectory(directory);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw fileError(error, directory);
  }
}

async function writeAndSync(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
