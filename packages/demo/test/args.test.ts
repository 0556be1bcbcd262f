import { describe, expect, test } from 'vitest';
import { parseArguments, UsageError } from '../src/args.js';

describe('the arguments', () => {
  test.each([
    [[], { database: 'postgres', seconds: 20, json: false, keep: false }],
    [['--mysql'], { database: 'mysql' }],
    [['--mariadb', '--json'], { database: 'mariadb', json: true }],
    [['--seconds', '4', '--keep'], { database: 'postgres', seconds: 4, keep: true }],
  ] as const)('%j', (args, expected) => {
    expect(parseArguments(args)).toMatchObject(expected);
  });

  test.each([
    [['--mysql', '--mariadb'], '--mysql and --mariadb are both given; the shop is on one of them.'],
    [['--seconds', '3'], '--seconds is 3; it must be a number from 4 to 3600.'],
    [['--sqlite'], "Unknown option '--sqlite'"],
  ] as const)('%j are answered with the reason', (args, reason) => {
    expect(() => parseArguments(args)).toThrow(UsageError);
    expect(() => parseArguments(args)).toThrow(reason);
  });
});
