import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { exists, makeCacheDirectory } from '../project-paths.js';
import { exclusively } from '../process/exclusive.js';
import { findOnPath, runProgram } from '../process/run-program.js';
import type { Program } from '../process/unprivileged.js';
import { Apt } from './apt.js';
import { ownMirrorWith } from './apt-sources.js';
import { osRelease } from './os-release.js';

/**
 * Debian packages unpacked below the project's cache, with every library down to the C library and the dynamic
 * loader: what is unpacked runs on any Linux of the same architecture. Nothing is installed.
 */
export class UnpackedPackages {
  readonly #root: string;
  readonly #loader: string;
  readonly #libraryPath: string;

  constructor(root: string, loader: string, libraryPath: string) {
    this.#root = root;
    this.#loader = loader;
    this.#libraryPath = libraryPath;
  }

  /** A file or folder of the packages, by its path in them. It need not exist. */
  path(file: string): string {
    return path.join(this.#root, file);
  }

  /** A program of the packages, by its path in them, as in `usr/bin/redis-server`. */
  program(file: string, args: readonly string[]): Program {
    return {
      file: this.#loader,
      args: ['--inhibit-cache', '--library-path', this.#libraryPath, path.join(this.#root, file), ...args],
    };
  }
}

/**
 * Downloads and unpacks packages, or finds them unpacked. Throws with the reason where that can't be done.
 *
 * @param suite of the machine's Debian mirror, as in `unstable`; the machine's own by default.
 * @param sources Of the source packages whose names fit, all that is depended on is unpacked too: some packages only name
 *   the version that is meant.
 */
export async function unpackDebianPackages(
  packages: readonly string[],
  suite?: string,
  sources?: RegExp,
): Promise<UnpackedPackages> {
  const release = suite === undefined ? await distribution() : `debian-${suite}-${process.arch}`;
  const home = await makeCacheDirectory('debian', release);
  const root = path.join(home, packages.join('+'));
  await exclusively(`${root}.lock`, async () => {
    if (!(await exists(root))) await unpackInto(root, home, { packages, sources }, suite);
  });
  return inspect(root);
}

interface Wanted {
  readonly packages: readonly string[];
  readonly sources: RegExp | undefined;
}

async function requireTools(): Promise<void> {
  for (const tool of ['apt-get', 'apt-cache', 'dpkg-deb']) {
    if ((await findOnPath(tool)) === undefined)
      throw new Error(`there is no ${tool} here to get Debian packages with`);
  }
}

/** Unpacks beside the goal and moves it there in one step, so that half a set of packages is never used. */
async function unpackInto(
  root: string,
  home: string,
  wanted: Wanted,
  suite: string | undefined,
): Promise<void> {
  await requireTools();
  const draft = `${root}.draft`;
  const [archives, unpacked] = [path.join(draft, 'archives'), path.join(draft, 'root')];
  await rm(draft, { recursive: true, force: true }); // of a run that was killed
  try {
    await mkdir(archives, { recursive: true });
    const source = suite === undefined ? undefined : await ownMirrorWith(suite);
    const apt = new Apt(await makeCacheDirectory('apt', path.basename(home)), source);
    await exclusively(path.join(home, 'apt.lock'), () => download(apt, wanted, archives));
    for (const archive of await readdir(archives)) {
      await runProgram(
        { file: 'dpkg-deb', args: ['--extract', path.join(archives, archive), unpacked] },
        archives,
      );
    }
    await chmod(unpacked, 0o755);
    await rename(unpacked, root);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function download(apt: Apt, wanted: Wanted, into: string): Promise<void> {
  await apt.update();
  try {
    await apt.download(await neededFor(apt, wanted), into);
  } catch {
    // The mirror may have moved on since the lists were fetched.
    await apt.update({ force: true });
    await apt.download(await neededFor(apt, wanted), into);
  }
}

/**
 * Of all that the packages depend on: what comes from the same sources, and libraries. The rest serves their
 * installation (user accounts, init scripts, the Perl of their hooks), which does not take place.
 */
async function neededFor(apt: Apt, { packages, sources: more }: Wanted): Promise<string[]> {
  const closure = await apt.closure(packages);
  const descriptions = await apt.describe(closure.map(({ name, version }) => `${name}=${version}`));
  const sourceOf = (fields: Map<string, string>): string =>
    (fields.get('Source') ?? fields.get('Package') ?? '').replace(/ .*/, '');
  const sources = new Set(
    descriptions.filter((fields) => packages.includes(fields.get('Package') ?? '')).map(sourceOf),
  );
  const isNeeded = (fields: Map<string, string>): boolean =>
    sources.has(sourceOf(fields)) ||
    more?.test(sourceOf(fields)) === true ||
    /(^|\/)libs$/.test(fields.get('Section') ?? '');
  return descriptions
    .filter(isNeeded)
    .map((fields) => `${String(fields.get('Package'))}=${String(fields.get('Version'))}`);
}

/** As in usr/lib/x86_64-linux-gnu; and what systemd and PulseAudio keep to themselves, which users of their libraries need. */
const libraryFolder = /^(usr\/)?lib(64|\/[^/]+-linux-[^/]+)?(\/(systemd|pulseaudio))?$/;

/** Finds the loader and the library folders; where they lie differs between releases. */
async function inspect(root: string): Promise<UnpackedPackages> {
  const folders = new Set<string>();
  let loader: string | undefined;
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.so(\.|$)/.test(entry.name)) continue;
    if (!libraryFolder.test(path.relative(root, entry.parentPath))) continue;
    folders.add(entry.parentPath);
    if (/^ld-linux.*\.so\.\d+$/.test(entry.name)) loader = path.join(entry.parentPath, entry.name);
  }
  if (loader === undefined) throw new Error(`the unpacked packages in ${root} have no dynamic loader`);
  return new UnpackedPackages(root, loader, [...folders].join(':'));
}

async function distribution(): Promise<string> {
  const [id = 'unknown', codename = 'unknown'] = [await osRelease('ID'), await osRelease('VERSION_CODENAME')];
  return `${id}-${codename}-${process.arch}`;
}
