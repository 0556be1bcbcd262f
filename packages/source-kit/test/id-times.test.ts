import { expect, it } from 'vitest';
import { leastUlid, leastUuid } from '../src/id-times.js';

it.each([
  // RFC 9562, A.6
  ['2022-02-22T19:22:22.000Z', '017f22e2-79b0-0000-0000-000000000000', '01FWHE4YDG'],
  ['1970-01-01T00:00:00.000Z', '00000000-0000-0000-0000-000000000000', '0000000000'],
])('ids of %s', (time, uuid, ulid) => {
  expect(leastUuid(Date.parse(time))).toBe(uuid);
  expect(leastUlid(Date.parse(time))).toBe(ulid);
});

it('takes times that no id has for the first and the last one', () => {
  expect(leastUuid(-5)).toBe('00000000-0000-0000-0000-000000000000');
  expect(leastUlid(1e18)).toBe('7ZZZZZZZZZ');
});
