import { randomUUID } from 'node:crypto';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import type { Program } from '../process/unprivileged.js';

/**
 * A file that starts a program with the arguments that it is given, for who can name a file only and no arguments before
 * those. It is replaced only where it differs.
 */
export async function writeLauncher(file: string, { file: program, args }: Program): Promise<void> {
  const script = `#!/bin/sh\nexec ${[program, ...args].map(quoted).join(' ')} "$@"\n`;
  if ((await readFile(file, 'utf8').catch(() => '')) === script) return;
  await placeProgram(file, (draft) => writeFile(draft, script));
}

/** Makes a program in one step: others may be about to run it, or be making it too. */
export async function placeProgram(file: string, make: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  await make(draft);
  await chmod(draft, 0o755); // whatever the umask: it is run under another uid too
  await rename(draft, file);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
