import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, copyFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const INSTALL_DEADLINE_MS = 300_000;

export interface NpmPackagesOptions {
  /** Has `package.json` and `package-lock.json`; all of its files are copied. */
  readonly source: string;
  /** A folder that git ignores; removing it is always safe. */
  readonly cache: string;
  /** What is done in the folder once the packages are there. */
  readonly afterwards?: (directory: string) => Promise<void>;
}

/**
 * Packages that are no dependencies of the project, since few people would want to install them with it: installed when
 * they are first asked for. The folder is named for the contents of the source's files and complete if it is there.
 */
export class NpmPackages {
  readonly #options: NpmPackagesOptions;

  constructor(options: NpmPackagesOptions) {
    this.#options = options;
  }

  async install(progress: (text: string) => void = () => undefined): Promise<void> {
    const { source, afterwards } = this.#options;
    const directory = await this.directory();
    if (await exists(directory)) return;
    progress('installing npm packages');
    const partial = `${directory}.${String(process.pid)}`;
    await mkdir(partial, { recursive: true });
    try {
      for (const file of await this.#files())
        await copyFile(path.join(source, file), path.join(partial, file));
      // Some packages ask for a newer Node than the project does, and run on it all the same.
      const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--engine-strict=false'];
      await promisify(execFile)('npm', args, { cwd: partial, timeout: INSTALL_DEADLINE_MS });
      await afterwards?.(partial);
      await rename(partial, directory);
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }

  /** A package's module, or a file of the folder, which must be installed. Who calls declares the slice that is used. */
  async import(name: string): Promise<unknown> {
    const { resolve } = createRequire(path.join(await this.directory(), 'package.json'));
    return import(pathToFileURL(resolve(name)).href);
  }

  async versionOf(name: string): Promise<string> {
    const file = path.join(await this.directory(), 'node_modules', name, 'package.json');
    return (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version;
  }

  async directory(): Promise<string> {
    const { source, cache } = this.#options;
    const files = await this.#files();
    const contents = await Promise.all(files.map((file) => readFile(path.join(source, file))));
    const hash = createHash('sha256').update(Buffer.concat(contents)).digest('hex').slice(0, 12);
    return path.join(cache, hash);
  }

  async #files(): Promise<string[]> {
    const entries = await readdir(this.#options.source, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .toSorted();
  }
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
