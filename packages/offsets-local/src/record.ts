import type { Offset } from '@strandline/core';
import { z } from 'zod';
import { OffsetsError } from './errors.js';

const format = 1;

const counter = z.int().min(0);
const range = z.object({ first: z.string(), last: z.string() });
const record = z.object({
  format: z.literal(format),
  pipeline: z.string(),
  identity: z.record(z.string(), z.string()),
  watermark: z.string(),
  completed: z.array(range),
  epoch: counter,
  revision: counter,
  savedAt: z.string(),
});

/** The text of an offset file. */
export function encode(pipeline: string, offset: Offset): string {
  return `${JSON.stringify({ format, pipeline, ...offset })}\n`;
}

/**
 * @param file only for messages.
 * @throws OffsetsError `OFFSETS_CORRUPT` when this version can't read it, or when it is another pipeline's.
 */
export function decode(text: string, pipeline: string, file: string): Offset {
  const value = parse(text, file);
  const found = (value as { format?: unknown } | null)?.format;
  if (typeof found === 'number' && found !== format) {
    throw corrupt(
      file,
      `is of format ${String(found)}; this version reads format ${String(format)}`,
      'Run the version of Strandline that wrote it, or choose another directory.',
    );
  }
  const parsed = record.safeParse(value);
  if (!parsed.success) {
    const field = [...(parsed.error.issues[0]?.path ?? [])].join('.');
    throw corrupt(file, `can't be read as an offset${field && ` (${field})`}`, restore);
  }
  const { identity, watermark, completed, epoch, revision, savedAt, pipeline: owner } = parsed.data;
  if (owner !== pipeline) {
    throw corrupt(
      file,
      `is the offset of pipeline ${JSON.stringify(owner)}, not of ${JSON.stringify(pipeline)}`,
      restore,
    );
  }
  return { identity, watermark, completed, epoch, revision, savedAt };
}

const restore = 'Restore the file from a backup, or remove it and say where the pipeline starts.';

function parse(text: string, file: string): unknown {
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
  return new OffsetsError('OFFSETS_CORRUPT', `The offset file ${file} ${problem}.`, remedy);
}
