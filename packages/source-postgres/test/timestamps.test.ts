import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatMicros, parseMicros, toPostgresMicros } from '../src/timestamps.js';

describe('commit times', () => {
  it.each([
    [0n, '2000-01-01T00:00:00.000000Z'],
    [1n, '2000-01-01T00:00:00.000001Z'],
    [999_999n, '2000-01-01T00:00:00.999999Z'],
    [849_334_845_123_456n, '2026-11-30T06:20:45.123456Z'],
    // 2^53 microseconds after 1970 are in the year 2255: from there on a double would lose some.
    [8_060_514_454_740_993n, '2255-06-05T23:47:34.740993Z'],
  ])('%s microseconds since 2000 are %s', (micros, text) => {
    expect(formatMicros(micros)).toBe(text);
  });

  it('keep every microsecond', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 200n * 365n * 86_400_000_000n }), (micros) => {
        const text = formatMicros(micros);
        expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
        const millis = BigInt(Date.parse(`${text.slice(0, -4)}Z`)) - 946_684_800_000n;
        expect(millis * 1_000n + BigInt(text.slice(-4, -1))).toBe(micros);
      }),
    );
  });
});

describe('times that are given', () => {
  it('are read to the microsecond, as they are printed', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -900_000_000_000_000n, max: 200n * 365n * 86_400_000_000n }), (micros) => {
        expect(parseMicros(formatMicros(micros))).toBe(micros);
      }),
    );
  });

  it.each([
    ['2026-11-30T06:20:45.123456Z', '2026-11-30T06:20:45.123456Z'],
    ['2026-11-30T06:20:45.1234Z', '2026-11-30T06:20:45.123400Z'],
    ['2026-11-30T06:20:45.123456789Z', '2026-11-30T06:20:45.123456Z'],
    ['2026-11-30T06:20:45Z', '2026-11-30T06:20:45.000000Z'],
    ['2026-11-30T08:20+02:00', '2026-11-30T06:20:00.000000Z'],
    ['2026-11-30', '2026-11-30T00:00:00.000000Z'],
  ])('%s is %s', (text, printed) => {
    expect(formatMicros(parseMicros(text) ?? 0n)).toBe(printed);
  });

  // Without an offset it would be the local time of whoever asks.
  it.each(['yesterday', '', '2026-11-30T06:20:45', '2026-13-30T06:20:45Z', '1764483645'])(
    '%j is none',
    (text) => {
      expect(parseMicros(text)).toBeNull();
    },
  );
});

describe('our clock, for the server', () => {
  it.each([
    [946_684_800_000, 0n],
    [946_684_800_000.25, 250n],
    [946_684_800_001, 1_000n],
    [946_684_799_999, -1_000n],
  ])('%s ms since 1970 are %s microseconds since 2000', (millis, micros) => {
    expect(toPostgresMicros(millis)).toBe(micros);
  });
});
