import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { fileError } from './errors.js';

/** The epochs of which there are files. */
export interface Epochs {
  /** The newest epoch that was claimed or saved; 0 when there is none. */
  readonly newest: number;
  /** Those with an offset, newest first. */
  readonly saved: readonly number[];
}

/**
 * The files of one pipeline, in a directory of its own: `<epoch>.claim` is empty and says that the epoch is
 * taken, `<epoch>.json` holds the owner's offset. The directory holds a handful of files, so listing it is one
 * call to the system, and sees it as it was at one moment.
 */
export class EpochFiles {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  file(epoch: number): string {
    return path.join(this.directory, `${String(epoch)}.json`);
  }

  async list(): Promise<Epochs> {
    const names = await this.#names();
    const epochs = (extension: string): number[] => names.flatMap((name) => epochOf(name, extension));
    const saved = epochs('json').sort((a, b) => b - a);
    return { newest: Math.max(0, ...saved, ...epochs('claim')), saved };
  }

  /** The text of an epoch's offset; undefined when it is no longer there. */
  async read(epoch: number): Promise<string | undefined> {
    try {
      return await readFile(this.file(epoch), 'utf8');
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw fileError(error, this.file(epoch));
    }
  }

  /** Takes an epoch; false when it is taken already. The file system lets only one process succeed. */
  async take(epoch: number): Promise<boolean> {
    try {
      await this.#makeDirectory();
      await (await open(path.join(this.directory, `${String(epoch)}.claim`), 'wx')).close();
      await syncDirectory(this.directory);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw fileError(error, this.directory);
    }
  }

  /**
   * Replaces an epoch's offset. After a crash at any point the file is whole: the former one or this one. Does
   * nothing when a later owner clears this epoch away meanwhile.
   */
  async write(epoch: number, text: string): Promise<void> {
    const temporary = path.join(this.directory, `${String(epoch)}.${randomUUID()}.tmp`);
    try {
      await this.#makeDirectory();
      await writeAndSync(temporary, text);
      await rename(temporary, this.file(epoch));
      await syncDirectory(this.directory);
    } catch (error) {
      if (hasCode(error, 'ENOENT') && (await this.list()).newest > epoch) return;
      await unlink(temporary).catch(() => undefined);
      throw fileError(error, this.directory);
    }
  }

  /** Clears away former epochs. What can't be removed is in nobody's way, and is tried again at the next claim. */
  async removeBelow(epoch: number): Promise<void> {
    const former = (await this.#names()).filter((name) => Number.parseInt(name, 10) < epoch);
    await Promise.all(former.map((name) => unlink(path.join(this.directory, name)).catch(() => undefined)));
  }

  async #names(): Promise<string[]> {
    try {
      return await readdir(this.directory);
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw fileError(error, this.directory);
    }
  }

  async #makeDirectory(): Promise<void> {
    const made = await mkdir(this.directory, { recursive: true });
    if (made !== undefined) await syncDirectory(path.dirname(this.directory));
  }
}

function epochOf(name: string, extension: string): number[] {
  const digits = /^(\d{1,16})\.(\w+)$/.exec(name);
  return digits?.[2] === extension ? [Number(digits[1])] : [];
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

/** A rename is durable only with its directory. Windows has no such call, and does it by itself. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
