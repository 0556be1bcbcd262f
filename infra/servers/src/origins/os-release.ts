import { readFile } from 'node:fs/promises';

/** A field of the file by which Linux distributions tell their name, as in `ID`. */
export async function osRelease(field: string): Promise<string | undefined> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return new RegExp(`^${field}="?([^"\n]*)`, 'm').exec(release)?.[1];
}
