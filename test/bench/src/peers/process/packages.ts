import path from 'node:path';
import { NpmPackages } from '@strandline/test-kit';

/** Up from `src/peers/process` and from `dist/peers/process` alike. */
const benchDirectory = path.resolve(import.meta.dirname, '..', '..', '..');

const packages = new NpmPackages({
  source: path.join(benchDirectory, 'peers', 'npm'),
  cache: path.resolve(benchDirectory, '..', '..', '.cache', 'bench-peers'),
});

/** Installs the peers' packages unless that was done. */
export async function installPackages(progress: (text: string) => void): Promise<void> {
  await packages.install((text) => {
    progress(`the peers: ${text}`);
  });
}

export const importPackage = (name: string): Promise<unknown> => packages.import(name);

export const versionOf = (name: string): Promise<string> => packages.versionOf(name);
