import type { LogPlace, ReplayOptions } from '@strandline/pipeline';
import { InvalidArgumentError } from 'commander';
import type { PipelineOptions } from '../options.js';
import { parsePlace } from '../place.js';

/** A place, and how it was typed. */
export interface Typed<T> {
  readonly text: string;
  readonly place: T;
}

export interface ReplayCommandOptions extends PipelineOptions {
  readonly from: Typed<LogPlace | 'earliest'>;
  readonly to?: Typed<LogPlace | 'now'>;
  readonly key?: string;
  readonly type?: string;
  readonly handler?: string;
  readonly as?: string;
  readonly restart?: true;
  readonly dryRun?: true;
  readonly yes?: true;
}

export function parseFrom(text: string): Typed<LogPlace | 'earliest'> {
  const place = parsePlace(text);
  if (place === 'now') throw new InvalidArgumentError('Nothing is there to replay from now on.');
  return { text, place };
}

export function parseTo(text: string): Typed<LogPlace | 'now'> {
  const place = parsePlace(text);
  if (place === 'earliest') throw new InvalidArgumentError('Nothing is there to replay up to the earliest.');
  return { text, place };
}

/** What was typed, with nothing in it that was not. */
export function replayOptionsOf(options: ReplayCommandOptions): ReplayOptions {
  const { from, to, key, type, handler, as, restart, dryRun } = options;
  return {
    from: from.place,
    ...(to === undefined ? {} : { to: to.place }),
    ...(key === undefined ? {} : { key }),
    ...(type === undefined ? {} : { type }),
    ...(handler === undefined ? {} : { handler }),
    ...(as === undefined ? {} : { as }),
    ...(restart === undefined ? {} : { restart }),
    ...(dryRun === undefined ? {} : { dryRun }),
  };
}

/** The command that goes on with the same replay, for a shell. */
export function commandOf(options: ReplayCommandOptions): string {
  const { config, pipeline, from, to, key, type, handler, as, json, yes } = options;
  const values: readonly (readonly [string, string | undefined])[] = [
    ['--config', config],
    ['--pipeline', pipeline],
    ['--from', from.text],
    ['--to', to?.text],
    ['--key', key],
    ['--type', type],
    ['--handler', handler],
    ['--as', as],
  ];
  const flags: readonly (readonly [string, true | undefined])[] = [
    ['--json', json],
    ['--yes', yes],
  ];
  return [
    'strandline replay',
    ...values.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${quoted(value)}`])),
    ...flags.flatMap(([name, is]) => (is === true ? [name] : [])),
  ].join(' ');
}

/** As POSIX shells take it; a key may hold anything. */
function quoted(text: string): string {
  return /^[\w./:@,+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
