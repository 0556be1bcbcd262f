import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { env } from '../src/environment.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'strandline-env-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

describe('env', () => {
  test('takes the variable, and the file that another one names when it is not set', () => {
    const file = path.join(folder, 'secret');
    writeFileSync(file, 'from a file \n');
    vi.stubEnv('STRANDLINE_SECRET_FILE', file);
    expect(env('STRANDLINE_SECRET')).toBe('from a file ');
    vi.stubEnv('STRANDLINE_SECRET', 'set');
    expect(env('STRANDLINE_SECRET')).toBe('set');
  });

  test('says what is missing, and falls back only when told to', () => {
    vi.stubEnv('STRANDLINE_SECRET', '');
    expect(() => env('STRANDLINE_SECRET')).toThrow(/STRANDLINE_SECRET is not set/);
    expect(env('STRANDLINE_SECRET', 'else')).toBe('else');
    vi.stubEnv('STRANDLINE_SECRET_FILE', path.join(folder, 'none'));
    expect(() => env('STRANDLINE_SECRET', 'else')).toThrow(/can not be read/);
  });
});
