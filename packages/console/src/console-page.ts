import { readFile } from 'node:fs/promises';
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

/**
 * The console as it is served: read once, some 100 kB, and kept. It is what its index names: files of former builds may lie
 * beside it. Rejects when the package was not built.
 */
export async function consolePage(): Promise<Page> {
  const index = await readFile(path.join(BUILT, 'index.html'), 'utf8');
  const names = [...index.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name = '']) => name);
  const files = await Promise.all(
    ['index.html', ...names].map(async (name): Promise<[string, PageFile]> => {
      const type = TYPES[path.extname(name)] ?? 'application/octet-stream';
      const body = await readFile(path.join(BUILT, name));
      // What the build names by its content lies in a folder.
      return [name === 'index.html' ? '/' : `/${name}`, { type, body, immutable: name.includes('/') }];
    }),
  );
  return new Map(files);
}
