import { expect, test } from 'vitest';
import { parsePlace } from '../src/place.js';

test.each([
  ['earliest', 'earliest'],
  ['now', 'now'],
  ['deploy-42', { bookmark: 'deploy-42' }],
  ['2026-01-31', { bookmark: '2026-01-31' }],
  ['16', { bookmark: '16' }],
  ['16/B374D848:3', { position: '16/B374D848:3' }],
  ['snapshot:start', { position: 'snapshot:start' }],
  ['3e11fa47;binlog.000002:4:1;1;;;', { position: '3e11fa47;binlog.000002:4:1;1;;;' }],
  ['2026-01-31T12:00Z', { time: '2026-01-31T12:00:00.000000Z' }],
  ['2026-01-31T12:00:00.25+01:00', { time: '2026-01-31T11:00:00.250000Z' }],
])('%s is a place', (text, place) => {
  expect(parsePlace(text)).toEqual(place);
});

test.each([
  ['2026-01-31T12:00:00', 'Use a time with its zone'],
  ['2026-13-31T12:00:00Z', 'Use a time with its zone'],
  ['a bookmark', 'Use a bookmark, a position, a time'],
  ['', 'Use a bookmark, a position, a time'],
])('%j is none', (text, says) => {
  expect(() => parsePlace(text)).toThrow(says);
});
