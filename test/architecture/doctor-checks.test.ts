import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Every check in the sources: `check: 'postgres-slot'`. */
function checksInCode(): string[] {
  const files = readdirSync(path.join(root, 'packages'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => /^[^/]+\/src\/.*\.ts$/.test(file),
  );
  return files.flatMap((file) =>
    [...readFileSync(path.join(root, 'packages', file), 'utf8').matchAll(/\bcheck: '([a-z0-9-]+)'/g)].map(
      ([, name = '']) => name,
    ),
  );
}

/** Every check in the tables of the page: rows that begin with its name. */
function checksInDocs(): string[] {
  const page = readFileSync(path.join(root, 'docs/doctor.md'), 'utf8');
  return [...page.matchAll(/^\| `([a-z0-9]+(?:-[a-z0-9]+)+)` +\|/gm)].map(([, name = '']) => name);
}

test('docs/doctor.md lists the checks of strandline doctor, each once, and no others', () => {
  const documented = checksInDocs();
  expect(documented.toSorted()).toEqual([...new Set(documented)].toSorted());
  expect(documented.toSorted()).toEqual([...new Set(checksInCode())].toSorted());
});
