import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { writeEnvFile } from '../src/init/write-files.js';
import { tempFolder } from './temp-folder.js';

const URL = [{ name: 'DATABASE_URL', value: 'postgres://r:secret@db/shop' }];

test('the variables file is another file in the place of the old one, for its owner alone', () => {
  using folder = tempFolder({});
  const file = path.join(folder.folder, '.env');
  writeFileSync(file, 'A=1\n');
  chmodSync(file, 0o644);
  const before = statSync(file).ino;
  expect(writeEnvFile(file, URL)).toBe('written');
  expect(readFileSync(file, 'utf8')).toBe('A=1\nDATABASE_URL=postgres://r:secret@db/shop\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  // Who had opened the old one, which others could read, reads nothing of the new text.
  expect(statSync(file).ino).not.toBe(before);
  expect(readdirSync(folder.folder).toSorted()).toEqual(['.env', '.gitignore']);
  expect(writeEnvFile(file, URL)).toBe('same');
});

test('a link to the variables file stays one', () => {
  using folder = tempFolder({});
  const [file, target] = ['.env', 'shared.env'].map((name) => path.join(folder.folder, name)) as [
    string,
    string,
  ];
  writeFileSync(target, '');
  symlinkSync(target, file);
  writeEnvFile(file, URL);
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(readFileSync(target, 'utf8')).toContain('DATABASE_URL=');
  expect(statSync(target).mode & 0o777).toBe(0o600);
});

test('what can not be written leaves nothing behind, and is told with the name of the file', () => {
  using folder = tempFolder({});
  const file = path.join(folder.folder, 'none', '.env');
  expect(() => writeEnvFile(file, URL)).toThrow(expect.objectContaining({ code: 'CLI_INIT_FILE' }) as Error);
  expect(readdirSync(folder.folder)).toEqual([]);
});
