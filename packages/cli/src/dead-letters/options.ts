import type { LetterFilter, LetterState } from '@strandline/core';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseDuration } from '../duration.js';

export interface FilterOptions {
  readonly key?: string;
  readonly type?: string;
  readonly error?: string;
  /** Milliseconds. */
  readonly olderThan?: number;
}

/** One state, or `held`: what waits or was skipped, which is what an operator can do something about. */
export type StateOption = LetterState | 'held' | 'all';

export const HELD: readonly LetterState[] = ['waiting', 'skipped'];

export function withFilter(command: Command): Command {
  return command
    .option('-k, --key <key>', 'of this key')
    .option('--type <type>', 'of this event type')
    .option('--error <text>', "that have this in the error's name, code or message")
    .addOption(
      new Option('--older-than <time>', 'in the table for so long: 30s, 10m, 2h, 7d').argParser(
        parseDuration,
      ),
    );
}

export function withState(command: Command): Command {
  return command.addOption(
    new Option('--state <state>', 'in this state; held: waiting or skipped')
      .choices(['held', ...HELD, 'handled', 'discarded', 'all'])
      .default('held'),
  );
}

/** The filter that was typed, with nothing in it that was not. */
export function filterOf({ key, type, error, olderThan }: FilterOptions): LetterFilter {
  return {
    ...(key === undefined ? {} : { key }),
    ...(type === undefined ? {} : { type }),
    ...(error === undefined ? {} : { error }),
    ...(olderThan === undefined ? {} : { olderThan }),
  };
}

export function parseLimit(text: string): number {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1) throw new InvalidArgumentError('Use a whole number from 1 to 999999.');
  return limit;
}
