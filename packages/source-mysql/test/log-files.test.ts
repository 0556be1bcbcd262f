import { describe, expect, it } from 'vitest';
import { LogFiles } from '../src/log-files.js';
import type { LogPosition } from '../src/position.js';

const files = new LogFiles('s', [
  ['binlog.000009', 1_000],
  ['binlog.000010', 500],
  ['binlog.000011', 200],
]);

function at(file: string, offset: number, server = 's'): LogPosition {
  return { kind: 'log', server, at: { file, offset }, ordinal: 0, gtid: '', executed: '', from: null };
}

describe('bytes between two places of the log', () => {
  it.each<[string, LogPosition, LogPosition, number | null]>([
    ['in one file', at('binlog.000010', 4), at('binlog.000010', 104), 100],
    ['over several', at('binlog.000009', 900), at('binlog.000011', 50), 650],
    ['in a file that was not there yet', at('binlog.000012', 4), at('binlog.000012', 14), 10],
    ['from a file that is gone', at('binlog.000008', 4), at('binlog.000009', 4), null],
    ['to a file that was not there yet', at('binlog.000011', 4), at('binlog.000012', 4), null],
    ['in files of another server', at('binlog.000009', 4, 'other'), at('binlog.000009', 8), null],
  ])('%s', (_, a, b, bytes) => {
    expect(files.bytesBetween(a, b)).toBe(bytes);
    expect(files.bytesBetween(b, a)).toBe(bytes);
  });

  it('are all that the files have, in all', () => {
    expect(files.bytes).toBe(1_700);
  });
});
