import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { standbyStatus } from '../src/standby-status.js';

const MILLIS_2000 = 946_684_800_000;

describe('the standby status', () => {
  it('is r, the LSN three times, the time and the flag: byte by byte', () => {
    const status = standbyStatus(0x16_b374_d848n, false, MILLIS_2000 + 1);
    expect(status.toString('hex')).toBe(
      ['72', '00000016b374d848', '00000016b374d848', '00000016b374d848', '00000000000003e8', '00'].join(''),
    );
  });

  it('reports exactly the LSN that it is given, and not the byte after it', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }), fc.boolean(), (lsn, reply) => {
        const status = standbyStatus(lsn, reply, MILLIS_2000);
        expect(status).toHaveLength(34);
        expect([1, 9, 17].map((at) => status.readBigUInt64BE(at))).toEqual([lsn, lsn, lsn]);
        expect(status[33]).toBe(reply ? 1 : 0);
      }),
    );
  });
});
