import type { Offset, PositionRange, SourceIdentity } from '@strandline/core';
import { z } from 'zod';
import { OffsetsError } from './errors.js';
import { format, type fields } from './scripts.js';

/** An offset as Redis returns it: each field's text, null where the hash lacks it. */
export type Held = Readonly<Partial<Record<(typeof fields)[number], string | null>>>;

const identity = json(z.record(z.string(), z.string()));
const completed = json(z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])));
const counter = z
  .string()
  .regex(/^\d{1,16}$/)
  .transform(Number)
  .pipe(z.int());

const record = z.object({
  identity,
  watermark: z.string(),
  completed,
  epoch: counter,
  revision: counter,
  savedAt: z.string(),
});

export function encodeIdentity(identity: SourceIdentity): string {
  return JSON.stringify(identity);
}

/** Most runs are one event long and take one text; there can be thousands of them, ten times a second. */
export function encodeCompleted(ranges: readonly PositionRange[]): string {
  return JSON.stringify(ranges.map(({ first, last }) => (first === last ? first : [first, last])));
}

/** @throws OffsetsError `OFFSETS_CORRUPT` when this version can't read it. */
export function decode(held: Held, key: string, store: string): Offset {
  if (held.format !== format) throw unknownFormat(held.format ?? '', key, store);
  const parsed = record.safeParse(held);
  if (!parsed.success) {
    throw unreadableField(String(parsed.error.issues[0]?.path[0] ?? 'format'), key, store);
  }
  return {
    ...parsed.data,
    completed: parsed.data.completed.map((run) =>
      typeof run === 'string' ? { first: run, last: run } : { first: run[0], last: run[1] },
    ),
  };
}

export function wrongType(type: string, key: string, store: string): OffsetsError {
  return new OffsetsError(
    'OFFSETS_CORRUPT',
    `The key ${key} at ${store} should be a hash with an offset, but it is a ${type}.`,
    'Something else uses this key: choose another keyPrefix, or remove the key.',
  );
}

export function unknownFormat(found: string, key: string, store: string): OffsetsError {
  const what =
    found === '' ? 'holds no offset' : `holds an offset of format ${JSON.stringify(found.slice(0, 20))}`;
  return new OffsetsError(
    'OFFSETS_CORRUPT',
    `The key ${key} at ${store} ${what}; this version of Strandline reads format ${format}.`,
    'Run the version that wrote it, or choose another keyPrefix. Do not remove the key before you know where to start.',
  );
}

export function unreadableField(field: string, key: string, store: string): OffsetsError {
  return new OffsetsError(
    'OFFSETS_CORRUPT',
    `The offset in the key ${key} at ${store} is damaged: its field ${field} can't be read.`,
    'Restore the key from a backup of Redis, or remove it and say where the pipeline starts.',
  );
}

function json<T extends z.ZodType>(schema: T) {
  const text = z.string().transform((value, context): unknown => {
    try {
      return JSON.parse(value);
    } catch {
      context.addIssue({ code: 'custom', message: 'not JSON' });
      return z.NEVER;
    }
  });
  return text.pipe(schema);
}
