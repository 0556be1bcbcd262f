import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ownMirrorWith } from '../src/origins/apt-sources.js';
import { osRelease } from '../src/origins/os-release.js';
import { makeCacheDirectory } from '../src/project-paths.js';

const isDebian = (await osRelease('ID')) === 'debian';
const codename = (await osRelease('VERSION_CODENAME')) ?? '';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(await makeCacheDirectory('tests'), 'sources-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

/** Has apt read these sources, of which it has no lists yet. */
async function configure(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  const config = `Dir::Etc::SourceList "/dev/null"; Dir::Etc::SourceParts "${folder}"; Dir::State "${folder}";`;
  await writeFile(path.join(folder, 'apt.conf'), config);
  vi.stubEnv('APT_CONFIG', path.join(folder, 'apt.conf'));
}

const others = `Types: deb
URIs: https://other.example/${codename}
Suites: stable ${codename}-backports
Components: main
`;

describe.runIf(isDebian)('the machine’s mirror with another suite', () => {
  test('is the entry of the release, with its keys and options', async () => {
    const mirror = `# The mirror, as it was installed.

# Types: deb-src
Types: deb deb-src
URIs: http://mirror.example/debian
# a comment
Suites: ${codename} ${codename}-updates
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----
Check-Valid-Until: no

Types: deb
URIs: http://security.example/debian
Suites: ${codename}-security
Components: main
`;
    await configure({ 'a.sources': others, 'debian.sources': mirror });
    expect(await ownMirrorWith('unstable')).toEqual({
      format: 'sources',
      text: `Types: deb
URIs: http://mirror.example/debian
Suites: unstable
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----
Check-Valid-Until: no`,
    });
  });

  test('is also found in the older format', async () => {
    const mirror = `# deb http://mirror.example/debian ${codename} main

deb-src http://mirror.example/debian ${codename} main
deb [signed-by=/a.gpg arch=${process.arch === 'x64' ? 'amd64' : process.arch}] http://mirror.example/debian ${codename} main contrib # ours
deb http://mirror.example/debian ${codename}-updates main
`;
    await configure({ 'a.sources': others, 'debian.list': mirror });
    const source = await ownMirrorWith('stable');
    expect(source.format).toBe('list');
    expect(source.text).toMatch(
      /^deb \[signed-by=\/a\.gpg arch=\w+\] http:\/\/mirror\.example\/debian stable main$/,
    );
  });

  test('that there is none is said', async () => {
    await configure({ 'other.list': `deb http://other.example/debian ${codename}-security main\n` });
    await expect(ownMirrorWith('unstable')).rejects.toThrow(/no Debian mirror here .* unstable/);
  });
});
