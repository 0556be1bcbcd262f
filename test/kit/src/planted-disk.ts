import fs, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

/**
 * The disk below a directory as this process sees it: it can be full. Files can then be made yet, and of what is written
 * into them the first half arrives, as on a real one.
 */
export class PlantedDisk {
  #isFull = false;

  constructor(directory: string) {
    const { open } = fs;
    fs.open = async (...args) => {
      const file = await open(...args);
      if (path.resolve(String(args[0])).startsWith(`${path.resolve(directory)}${path.sep}`))
        this.#limit(file);
      return file;
    };
    // Those who have imported the function by its name get this one too.
    syncBuiltinESMExports();
  }

  fill(full: boolean): void {
    this.#isFull = full;
  }

  #limit(file: FileHandle): void {
    const write = file.writeFile.bind(file);
    file.writeFile = async (data, options) => {
      if (!this.#isFull) {
        await write(data, options);
        return;
      }
      const text = String(data);
      await write(text.slice(0, text.length / 2), options);
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), {
        code: 'ENOSPC',
        errno: -28,
      });
    };
  }
}
