import { readFile } from 'node:fs/promises';
import { runProgram } from '../process/run-program.js';

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

/** Where the mirror is configured, as `file:index`. */
async function mirrorEntry(): Promise<string | undefined> {
  const fields = ['SOURCESENTRY', 'RELEASE', 'COMPONENT', 'ORIGIN'].map((field) => `$(${field})`);
  const ask = ['indextargets', '--format', fields.join('|'), 'Created-By: Packages'];
  const targets = await runProgram({ file: 'apt-get', args: ask }, '/');
  const candidates = targets.split('\n').map((line) => line.split('|'));
  return candidates.find(([, release = '', component, origin = '']) => {
    // bookworm-updates and bookworm-security may lie on mirrors that have nothing else.
    const isWholeRelease = component === 'main' && !/[-/]/.test(release);
    // Apt knows the origin of what it has lists of; otherwise it repeats the question.
    return isWholeRelease && (origin === 'Debian' || origin === '' || origin.startsWith('$'));
  })?.[0];
}

/** Apt counts the stanzas of a file from 1, those that are only comments left out. */
function stanzaWith(suite: string, text: string, index: number): string {
  const stanzas = text
    .replace(/^#.*\n?/gm, '')
    .split(/\n\s*\n/)
    .filter((stanza) => stanza.trim() !== '');
  const replaced: Record<string, string> = { types: 'deb', suites: suite, components: 'main' };
  // A field goes on in the lines that begin with a space.
  return (stanzas[index - 1] ?? '').replace(/^([\w-]+):.*(\n[ \t].*)*/gm, (field, name: string) => {
    const value = replaced[name.toLowerCase()];
    return value === undefined ? field : `${name}: ${value}`;
  });
}

/** `deb [options] address suite components`, at a line that is counted from 1. */
function lineWith(suite: string, text: string, index: number): string {
  const line = text.split('\n')[index - 1] ?? '';
  return line.replace(/^(\s*deb\s+(?:\[[^\]]*\]\s*)?\S+\s+).*$/, `$1${suite} main`);
}
