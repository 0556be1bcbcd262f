import { readFile } from 'node:fs/promises';
import { runProgram } from '../process/run-program.js';
import { osRelease } from './os-release.js';

/** A place that packages come from, as the text of a file in one of the two formats that apt reads. */
export interface AptSource {
  readonly format: 'list' | 'sources';
  readonly text: string;
}

/**
 * The machine's own Debian mirror, with another suite than the machine's. Its address, keys and options are taken from
 * the entry that names it, whatever they are.
 */
export async function ownMirrorWith(suite: string): Promise<AptSource> {
  const entry = await mirrorEntry();
  if (entry === undefined) throw new Error(`apt knows no Debian mirror here to get the suite ${suite} from`);
  const [, file = '', index = ''] = /^(.*):(\d+)$/.exec(entry) ?? [];
  const text = await readFile(file, 'utf8');
  return file.endsWith('.sources')
    ? { format: 'sources', text: stanzaWith(suite, text, Number(index)) }
    : { format: 'list', text: lineWith(suite, text, Number(index)) };
}

interface Target {
  /** Where it is configured, as `file:index`. */
  readonly entry: string;
  readonly release: string;
  readonly component: string;
  readonly origin: string;
}

/** The entry of the mirror, rather than those of other people's packages for the same release. */
async function mirrorEntry(): Promise<string | undefined> {
  if ((await osRelease('ID')) !== 'debian') return undefined;
  // Who is behind an address apt knows once it has lists from there, which it may never have had.
  const known = (await packageTargets()).filter(({ origin }) => origin === 'Debian');
  const targets = known.length > 0 ? known : await packageTargets('--no-release-info');
  // bookworm-updates and bookworm-security may lie on mirrors that have nothing else.
  const whole = targets.filter(({ component, release }) => component === 'main' && !/[-/]/.test(release));
  const codename = await osRelease('VERSION_CODENAME');
  return (whole.find(({ release }) => release === codename) ?? whole[0])?.entry;
}

async function packageTargets(...options: readonly string[]): Promise<Target[]> {
  const fields = ['SOURCESENTRY', 'RELEASE', 'COMPONENT', 'ORIGIN'].map((field) => `$(${field})`);
  const ask = ['indextargets', ...options, '--format', fields.join('|'), 'Created-By: Packages'];
  const answer = await runProgram({ file: 'apt-get', args: ask }, '/');
  return answer.split('\n').map((line) => {
    const [entry = '', release = '', component = '', origin = ''] = line.split('|');
    return { entry, release, component, origin };
  });
}

/** Apt counts the stanzas of a file from 1, those that are only comments left out. */
function stanzaWith(suite: string, text: string, index: number): string {
  const stanzas = text
    .replace(/^#.*\n?/gm, '')
    .split(/\n\s*\n/)
    .filter((stanza) => stanza.trim() !== '');
  const replaced: Record<string, string> = { types: 'deb', suites: suite, components: 'main' };
  // A field goes on in the lines that begin with a space.
  return (stanzas[index - 1] ?? '').trim().replace(/^([\w-]+):.*(\n[ \t].*)*/gm, (field, name: string) => {
    const value = replaced[name.toLowerCase()];
    return value === undefined ? field : `${name}: ${value}`;
  });
}

/** `deb [options] address suite components`, at a line that is counted from 1. */
function lineWith(suite: string, text: string, index: number): string {
  const line = text.split('\n')[index - 1] ?? '';
  return line.replace(/^(\s*deb\s+(?:\[[^\]]*\]\s*)?\S+\s+).*$/, `$1${suite} main`);
}
