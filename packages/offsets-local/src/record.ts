import type { Offset, OffsetChange, ReplacedOffset } from '@strandline/core';
import { z } from 'zod';
import { OffsetsError } from './errors.js';

export const format = 1;

const counter = z.int().min(0);
const range = z.object({ first: z.string(), last: z.string() });
const change = z.object({
  identity: z.record(z.string(), z.string()),
  watermark: z.string(),
  completed: z.array(range),
});
const head = z.object({ format: z.literal(format), pipeline: z.string() });
const record = z.object({
  ...head.shape,
  ...change.shape,
  epoch: counter,
  revision: counter,
  savedAt: z.string(),
  vacant: z.literal(true).optional(),
});
const resetRecord = z.object({ ...head.shape, reset: z.literal(true), epoch: counter });
const replacedRecord = z.object({ ...head.shape, offset: change.nullable(), replacedAt: z.string() });

/** What the file of an epoch holds. */
export interface Held {
  /** Null after a reset: the pipeline is one that never ran. */
  readonly offset: Offset | null;
  /** Somebody has put it there, and nobody has claimed it since: whoever commits is a former owner. */
  readonly vacant: boolean;
}

/** The text of an offset file. */
export function encode(pipeline: string, { identity, watermark, completed, ...own }: Offset): string {
  return line({ format, pipeline, identity, watermark, completed, ...own });
}

/** The text of an offset file that nobody owns. */
export function encodeVacant(
  pipeline: string,
  epoch: number,
  by: OffsetChange | null,
  savedAt: string,
): string {
  if (by === null) return line({ format, pipeline, reset: true, epoch });
  const { identity, watermark, completed } = by;
  const own = { epoch, revision: 0, savedAt, vacant: true };
  return line({ format, pipeline, identity, watermark, completed, ...own });
}

export function encodeReplaced(pipeline: string, offset: OffsetChange | null, replacedAt: string): string {
  return line({ format, pipeline, offset: offset === null ? null : changeOf(offset), replacedAt });
}

/**
 * @param file only for messages.
 * @throws OffsetsError `OFFSETS_CORRUPT` when this version can't read it, or when it is another pipeline's.
 */
export function decode(text: string, pipeline: string, file: string): Held {
  const value = parse(text, file);
  if ((value as { reset?: unknown } | null)?.reset !== undefined) {
    checked(resetRecord, value, pipeline, file);
    return { offset: null, vacant: true };
  }
  const { identity, watermark, completed, epoch, revision, savedAt, vacant } = checked(
    record,
    value,
    pipeline,
    file,
  );
  return {
    offset: { identity, watermark, completed, epoch, revision, savedAt },
    vacant: vacant === true,
  };
}

/** Whose offset file it is. @throws OffsetsError `OFFSETS_CORRUPT` */
export function pipelineOf(text: string, file: string): string {
  const named = z.object({ pipeline: z.string() }).safeParse(parse(text, file));
  if (named.success) return named.data.pipeline;
  throw corrupt(file, "can't be read (pipeline)", restore);
}

/** The offset file of one pipeline in the directory of another. */
export function misplaced(pipeline: string, file: string): OffsetsError {
  return corrupt(
    file,
    `belongs to pipeline ${JSON.stringify(pipeline)}, whose directory this is not`,
    restore,
  );
}

/** The same of the file with what was replaced last. */
export function decodeReplaced(text: string, pipeline: string, file: string): ReplacedOffset {
  const { offset, replacedAt } = checked(replacedRecord, parse(text, file), pipeline, file);
  return { offset, replacedAt };
}

/** A file that is of this version, readable, and this pipeline's. */
export function checked<T extends { readonly pipeline: string }>(
  schema: z.ZodType<T>,
  value: unknown,
  pipeline: string,
  file: string,
): T {
  const found = (value as { format?: unknown } | null)?.format;
  if (typeof found === 'number' && found !== format) {
    throw corrupt(
      file,
      `is of format ${String(found)}; this version reads format ${String(format)}`,
      'Run the version of Strandline that wrote it, or choose another directory.',
    );
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const field = [...(parsed.error.issues[0]?.path ?? [])].join('.');
    throw corrupt(file, `can't be read${field && ` (${field})`}`, restore);
  }
  if (parsed.data.pipeline !== pipeline) {
    const owner = JSON.stringify(parsed.data.pipeline);
    throw corrupt(file, `belongs to pipeline ${owner}, not to ${JSON.stringify(pipeline)}`, restore);
  }
  return parsed.data;
}

function changeOf({ identity, watermark, completed }: OffsetChange): OffsetChange {
  return { identity, watermark, completed };
}

const restore = 'Restore the file from a backup, or remove it and say where the pipeline starts.';

/** @throws OffsetsError `OFFSETS_CORRUPT` */
export function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw corrupt(
      file,
      text === '' ? 'is empty' : 'is not JSON: a part of it is missing or overwritten',
      restore,
    );
  }
}

function corrupt(file: string, problem: string, remedy: string): OffsetsError {
  return new OffsetsError('OFFSETS_CORRUPT', `The file ${file} ${problem}.`, remedy);
}

export function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
