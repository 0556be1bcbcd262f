import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A folder of one test's own, away from the repository, with some files in it. */
export interface TempFolder extends Disposable {
  readonly folder: string;
  file(name: string): string;
}

export function tempFolder(files: Readonly<Record<string, string>>): TempFolder {
  const folder = mkdtempSync(path.join(tmpdir(), 'strandline-cli-'));
  const file = (name: string): string => path.join(folder, name);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(file(name)), { recursive: true });
    writeFileSync(file(name), text);
  }
  return {
    folder,
    file,
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true });
    },
  };
}
