import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page, PageFile } from '@strandline/admin';

/** Where `npm run build` puts the page. */
const BUILT = fileURLToPath(new URL('../dist/page', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The console as it is served: read once, some 100 kB, and kept. Rejects when the package was not built. */
export async function consolePage(): Promise<Page> {
  const names = await readdir(BUILT, { recursive: true, withFileTypes: true });
  const files = await Promise.all(
    names
      .filter((name) => name.isFile())
      .map(async ({ parentPath, name }): Promise<[string, PageFile]> => {
        const file = path.join(parentPath, name);
        const at = path.relative(BUILT, file).split(path.sep).join('/');
        const type = TYPES[path.extname(name)] ?? 'application/octet-stream';
        // What the build names by its content lies in a folder.
        return [
          at === 'index.html' ? '/' : `/${at}`,
          { type, body: await readFile(file), immutable: at.includes('/') },
        ];
      }),
  );
  return new Map(files);
}
