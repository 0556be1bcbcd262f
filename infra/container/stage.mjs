/**
 * Copies what `strandline` needs at run time into a folder: the packages of ours that it stands on, as they were built, and
 * what was installed for them. Usage: node infra/container/stage.mjs FOLDER
 */
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error('Name the folder.');
const root = fileURLToPath(new URL('../..', import.meta.url));

const manifestOf = (folder) => JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8'));

/** Folders of a package of ours and of those of ours that it depends on. */
function folders(folder, found = new Set()) {
  if (found.has(folder)) return found;
  found.add(folder);
  for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
    if (name.startsWith('@strandline/')) folders(`packages/${name.slice('@strandline/'.length)}`, found);
  }
  return found;
}

const ours = folders('packages/strandline');
for (const folder of ours) {
  for (const part of ['package.json', 'bin', 'dist', 'node_modules']) {
    const from = path.join(root, folder, part);
    if (existsSync(from))
      cpSync(from, path.join(target, folder, part), { recursive: true, filter: isNeeded });
  }
}
cpSync(path.join(root, 'node_modules'), path.join(target, 'node_modules'), {
  recursive: true,
  verbatimSymlinks: true,
  filter: isNeeded,
});
// Links to packages of ours that are not here: tests, and what is installed beside.
for (const name of Object.keys(
  JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages,
)) {
  const link = path.join(target, name);
  if (name.startsWith('node_modules/@strandline/') && !ours.has(`packages/${path.basename(name)}`))
    rmSync(link, { force: true });
}

/** Neither maps nor declarations are read at run time. */
function isNeeded(file) {
  return !/\.(?:map|d\.ts|d\.mts|d\.cts|tsbuildinfo)$/.test(file);
}
