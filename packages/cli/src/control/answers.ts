import { hostname, userInfo } from 'node:os';
import type { HeldKey, Order } from '@strandline/core';
import type { ControlDesk, OrderOptions } from '@strandline/pipeline';
import { cliError } from '../errors.js';
import type { PipelineOptions } from '../options.js';
import { written, type Streams } from '../streams.js';
import { amount, json, printable, table } from '../text.js';

/** What a command works with: the controls of one pipeline, and where its answer goes. */
export interface AtControl {
  readonly pipeline: string;
  readonly desk: ControlDesk;
  readonly streams: Streams;
}

export interface OrderingOptions extends PipelineOptions {
  readonly by?: string;
  readonly note?: string;
}

const HEAD = ['KEY', 'BY', 'SINCE', 'NOTE'];

export async function pause({ pipeline, desk, streams }: AtControl, options: OrderingOptions): Promise<void> {
  const { paused, changed } = await desk.pause(orderBy(options));
  const text = changed
    ? `${pipeline} is paused${SOON}`
    : `${pipeline} is paused already, ${orderText(paused)}`;
  await answer(streams, options, { pipeline, paused, changed }, text);
}

export async function resume(
  { pipeline, desk, streams }: AtControl,
  options: PipelineOptions,
): Promise<void> {
  const { was, changed } = await desk.resume();
  const text =
    was === null ? `${pipeline} was not paused` : `${pipeline} goes on: it was paused ${orderText(was)}`;
  await answer(streams, options, { pipeline, was, changed }, text);
}

export async function hold(
  { pipeline, desk, streams }: AtControl,
  key: string,
  options: OrderingOptions,
): Promise<void> {
  const { held, changed } = await desk.hold(key, orderBy(options));
  const name = `${printable(key)} of ${pipeline}`;
  const text = changed ? `${name} is held${SOON}` : `${name} is held already, ${orderText(held)}`;
  await answer(streams, options, { pipeline, held, changed }, text);
}

/** Throws `CLI_NOTHING_FOUND`. */
export async function release(
  { pipeline, desk, streams }: AtControl,
  key: string,
  options: PipelineOptions,
): Promise<void> {
  const { was, changed } = await desk.release(key);
  if (was === null)
    throw cliError(
      'CLI_NOTHING_FOUND',
      `The key ${JSON.stringify(key)} of ${pipeline} is not held.`,
      'See strandline keys list. Parked keys are released by strandline dead-letters retry.',
    );
  const text = `${printable(key)} of ${pipeline} goes on: it was held ${orderText(was)}`;
  await answer(streams, options, { pipeline, was, changed }, text);
}

export async function list({ pipeline, desk, streams }: AtControl, options: PipelineOptions): Promise<void> {
  const { paused, held } = await desk.controls();
  const rows = held.length === 0 ? '' : table([HEAD, ...held.map(row)]);
  const text = [
    ...(paused === null ? [] : [`${pipeline} is paused, ${orderText(paused)}\n`]),
    `${rows}${pipeline}: ${amount(held.length, 'held key')}`,
  ].join('');
  await answer(streams, options, { pipeline, paused, held }, text);
}

/** Who ordered it, when and why, in one line. */
export function orderText({ by, at, note }: Order): string {
  return printable(`by ${by} at ${at}${note === '' ? '' : `: ${note}`}`);
}

const SOON = ': its owner obeys within two seconds, and what runs may end';

function orderBy({ by = whoAmI(), note = '' }: OrderingOptions): OrderOptions {
  return { by, note };
}

function whoAmI(): string {
  return `${userName()}@${hostname()}`.slice(0, 100);
}

/** A container may run under a number that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'somebody';
  }
}

function row({ key, by, at, note }: HeldKey): string[] {
  return [key, by, at, note].map(printable);
}

async function answer(
  streams: Streams,
  options: PipelineOptions,
  value: unknown,
  text: string,
): Promise<void> {
  await written(streams.stdout, options.json === true ? json(value) : `${text}\n`);
}
