import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatLsn, parseLsn } from '../src/lsn.js';

const anyLsn = fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn });

describe('LSN text', () => {
  it.each([
    ['0/0', 0n],
    ['0/1', 1n],
    ['16/B374D848', 0x16_b374_d848n],
    ['16/b374d848', 0x16_b374_d848n],
    ['16/0B374D8', 0x16_00b3_74d8n],
    ['1/0', 0x1_0000_0000n],
    ['FFFFFFFF/FFFFFFFF', 0xffff_ffff_ffff_ffffn],
  ])('%s is read', (text, lsn) => {
    expect(parseLsn(text)).toBe(lsn);
  });

  it.each([
    '',
    '0',
    '/',
    '0/',
    '/0',
    '0/0/0',
    ' 0/0',
    '0/0 ',
    '0x1/2',
    'G/0',
    '0/100000000',
    '-1/0',
    '0/1\n',
  ])('%j is refused', (text) => {
    expect(parseLsn(text)).toBeNull();
  });

  it.each([
    [0n, '0/0'],
    [0x1_0000_0000n, '1/0'],
    [0x16_00b3_74d8n, '16/B374D8'],
    [0xffff_ffff_ffff_ffffn, 'FFFFFFFF/FFFFFFFF'],
  ])('%s is printed as the server prints it, without padding', (lsn, text) => {
    expect(formatLsn(lsn)).toBe(text);
  });

  it('comes back from its text unchanged, whatever it is', () => {
    fc.assert(
      fc.property(anyLsn, (lsn) => {
        expect(parseLsn(formatLsn(lsn))).toBe(lsn);
      }),
    );
  });
});
