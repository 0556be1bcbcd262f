import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { reasonOf } from '../errors.js';
import { runProgram } from '../process/run-program.js';
import type { AptSource } from './apt-sources.js';

/** Mirrors drop superseded packages, so lists that are older than this may name files that are gone. */
const listsAreFreshMs = 24 * 3_600_000;

/**
 * apt on package lists, caches and a package database of its own, all below one folder. It reads the machine's
 * sources and keys, and changes nothing of the machine; the machine's own lists may be empty or outdated.
 * With a source of its own it reads no other, and none of the machine's preferences among releases.
 */
export class Apt {
  readonly #directory: string;
  readonly #config: string;
  readonly #source: AptSource | undefined;

  constructor(directory: string, source?: AptSource) {
    this.#directory = directory;
    this.#source = source;
    this.#config = path.join(directory, 'apt.conf');
  }

  /** Fetches the package lists if they are missing or old. */
  async update({ force = false } = {}): Promise<void> {
    const stamp = path.join(this.#directory, 'updated');
    const updatedAt = await stat(stamp).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    if (!force && Date.now() - updatedAt < listsAreFreshMs) return;
    await this.#configure();
    // One source of several that can't be reached is no reason to stop: the packages may come from another.
    await this.#run('apt-get', 'update').catch((error: unknown) => {
      throw new Error(`apt-get update: ${lastLines(error)}`, { cause: error });
    });
    await writeFile(stamp, '');
  }

  /** Name and version of all that these packages need to run, themselves included, as on an empty machine. */
  async closure(packages: readonly string[]): Promise<{ name: string; version: string }[]> {
    const plan = await this.#run('apt-get', '--simulate', '--no-install-recommends', 'install', ...packages);
    return [...plan.matchAll(/^Inst (\S+) \((\S+)/gm)].map(([, name = '', version = '']) => ({
      name,
      version,
    }));
  }

  /** The control fields of packages, each given as name=version. */
  async describe(packages: readonly string[]): Promise<Map<string, string>[]> {
    const text = await this.#run('apt-cache', 'show', ...packages);
    return text
      .trim()
      .split(/\n\n+/)
      .map(
        (stanza) =>
          new Map([...stanza.matchAll(/^([A-Za-z-]+): ?(.*)$/gm)].map(([, k = '', v = '']) => [k, v])),
      );
  }

  /** Downloads packages, each given as name=version, into a folder; signatures are checked. */
  async download(packages: readonly string[], into: string): Promise<void> {
    await runProgram({ file: 'apt-get', args: ['-c', this.#config, 'download', ...packages] }, into);
  }

  #run(program: string, ...args: string[]): Promise<string> {
    return runProgram({ file: program, args: ['-c', this.#config, ...args] }, this.#directory);
  }

  async #configure(): Promise<void> {
    const own = (...segments: string[]): string => path.join(this.#directory, ...segments);
    await mkdir(own('state', 'lists', 'partial'), { recursive: true });
    await mkdir(own('cache', 'archives', 'partial'), { recursive: true });
    await writeFile(own('status'), '');
    const sources = await this.#ownSources();
    await writeFile(
      this.#config,
      [
        `Dir::State "${own('state')}";`,
        `Dir::State::Lists "${own('state', 'lists')}";`,
        // No package is installed, so a closure is complete, down to the C library.
        `Dir::State::status "${own('status')}";`,
        `Dir::Cache "${own('cache')}";`,
        `Dir::Log "${own('log')}";`,
        ...sources,
        'Debug::NoLocking "true";',
        // The _apt user, as whom root's downloads would run, may be unable to pass through to this folder.
        'APT::Sandbox::User "root";',
        'Acquire::Languages "none";',
        'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";',
        'Acquire::Retries "2";',
        'Acquire::http::Timeout "20";',
        'Acquire::https::Timeout "20";',
        // The machine's hooks clean caches and refresh catalogues of the machine, which is not ours to do.
        '#clear APT::Update::Pre-Invoke;',
        '#clear APT::Update::Post-Invoke;',
        '#clear APT::Update::Post-Invoke-Success;',
        '#clear DPkg::Pre-Invoke;',
        '#clear DPkg::Post-Invoke;',
        '',
      ].join('\n'),
    );
  }

  async #ownSources(): Promise<string[]> {
    if (this.#source === undefined) return [];
    const folder = path.join(this.#directory, 'sources.d');
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
    await writeFile(path.join(folder, `mirror.${this.#source.format}`), `${this.#source.text}\n`);
    return [
      'Dir::Etc::SourceList "/dev/null";',
      `Dir::Etc::SourceParts "${folder}";`,
      'Dir::Etc::Preferences "/dev/null";',
      'Dir::Etc::PreferencesParts "/dev/null";',
      '#clear APT::Default-Release;',
    ];
  }
}

function lastLines(error: unknown): string {
  const { stderr } = error as { stderr?: string };
  return (stderr === undefined || stderr === '' ? reasonOf(error) : stderr)
    .trim()
    .split('\n')
    .slice(-4)
    .join('; ');
}
