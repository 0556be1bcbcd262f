import { recordOf, type OutboxEvent } from '@strandline/core';
import type { LogPlace, Pipeline } from '@strandline/pipeline';
import type { PipelineOptions } from '../options.js';
import { written, type Streams } from '../streams.js';
import { json, printable } from '../text.js';

export interface TailCommandOptions extends PipelineOptions {
  readonly from?: LogPlace | 'earliest' | 'now';
  readonly key?: string;
  readonly type?: string;
  readonly payload?: true;
  readonly limit?: number;
}

/** Writes events as they commit, a line each, until the signal, the limit, or the end of whoever reads them. */
export async function tail(
  pipeline: Pipeline,
  options: TailCommandOptions,
  { stdout }: Streams,
  stop: AbortSignal,
): Promise<void> {
  const { from, key, type, limit = Infinity } = options;
  const events = pipeline.tail({
    ...(from === undefined ? {} : { from }),
    ...(key === undefined ? {} : { key }),
    ...(type === undefined ? {} : { type }),
    signal: stop,
  });
  const line = options.json === true ? jsonLine : textLine;
  let count = 0;
  for await (const event of events) {
    await written(stdout, line(event, options.payload === true));
    count += 1;
    if (count >= limit) return;
  }
}

/** Without the payload nothing that the application has put into the event but id, key and type. */
function jsonLine(event: OutboxEvent, withPayload: boolean): string {
  if (withPayload) return json(recordOf(event));
  const { id, key, type, position, table, transaction } = event;
  return json({ id, key, type, position, table, transaction });
}

function textLine(
  { transaction, key, type, id, position, payloadText }: OutboxEvent,
  withPayload: boolean,
): string {
  const fields = [transaction.commitTime, key, type ?? '-', id, position];
  if (withPayload) fields.push(payloadText ?? 'NULL');
  return `${fields.map(printable).join('  ')}\n`;
}
