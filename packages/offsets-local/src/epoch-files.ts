import { open, unlink } from 'node:fs/promises';
import path from 'node:path';
import { fileError } from './errors.js';
import { hasCode, makeDirectory, namesIn, readWhole, syncDirectory, writeWhole } from './whole-files.js';

/** The epochs of which there are files. */
export interface Epochs {
  /** The newest epoch that was claimed or saved; 0 when there is none. */
  readonly newest: number;
  /** Those with an offset, newest first. */
  readonly saved: readonly number[];
}

/**
 * The files of one pipeline, in a directory of its own: `<epoch>.claim` is empty and says that the epoch is
 * taken, `<epoch>.json` holds the owner's offset, or what an operator has put in its place. The directory holds a
 * handful of files, so listing it is one call to the system, and sees it as it was at one moment.
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
    const names = await namesIn(this.directory);
    const epochs = (extension: string): number[] => names.flatMap((name) => epochOf(name, extension));
    const saved = epochs('json').sort((a, b) => b - a);
    return { newest: Math.max(0, ...saved, ...epochs('claim')), saved };
  }

  /** The text of an epoch's offset; undefined when it is no longer there. */
  read(epoch: number): Promise<string | undefined> {
    return readWhole(this.file(epoch));
  }

  /** Takes an epoch; false when it is taken already. The file system lets only one process succeed. */
  async take(epoch: number): Promise<boolean> {
    try {
      await makeDirectory(this.directory);
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
    try {
      await writeWhole(this.file(epoch), text);
    } catch (error) {
      if (hasCode((error as Error).cause, 'ENOENT') && (await this.list()).newest > epoch) return;
      throw error;
    }
  }

  /** Clears away former epochs. What can't be removed is in nobody's way, and is tried again at the next claim. */
  async removeBelow(epoch: number): Promise<void> {
    const names = await namesIn(this.directory);
    const former = names.filter((name) => Number.parseInt(name, 10) < epoch);
    await Promise.all(former.map((name) => unlink(path.join(this.directory, name)).catch(() => undefined)));
  }
}

function epochOf(name: string, extension: string): number[] {
  const digits = /^(\d{1,16})\.(\w+)$/.exec(name);
  return digits?.[2] === extension ? [Number(digits[1])] : [];
}
