import type { Offset, PositionRange, ReplacedOffset, SourceIdentity } from '@strandline/core';
import { z } from 'zod';
import { OffsetsError } from './errors.js';
import { json } from './json-text.js';
import { format, type fields } from './scripts.js';

/**
 * An offset as Redis returns it: each field's text, null where the hash lacks it. `vacant` says that somebody has
 * replaced it and nobody has claimed it since: `set`, or `reset` when there is none. `replaced` is what was there.
 */
export type Held = Readonly<Partial<Record<(typeof fields)[number] | 'vacant' | 'replaced', string | null>>>;

const identityValue = z.record(z.string(), z.string());
const identity = json(identityValue);
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

const replaced = json(
  z.object({
    offset: z
      .object({
        identity: identityValue,
        watermark: z.string(),
        completed: z.array(z.object({ first: z.string(), last: z.string() })),
      })
      .nullable(),
    replacedAt: z.string(),
  }),
);

export function encodeReplaced(offset: Offset | null, replacedAt: string): string {
  if (offset === null) return JSON.stringify({ offset, replacedAt });
  const { identity, watermark, completed } = offset;
  return JSON.stringify({ offset: { identity, watermark, completed }, replacedAt });
}

/** @throws OffsetsError `OFFSETS_CORRUPT` when this version can't read it. */
export function decodeReplaced(held: Held, key: string, store: string): ReplacedOffset | null {
  if (held.format !== format) throw unknownFormat(held.format ?? '', key, store);
  if (held.replaced === undefined || held.replaced === null) return null;
  const parsed = replaced.safeParse(held.replaced);
  if (!parsed.success) throw unreadableField('replaced', key, store);
  return parsed.data;
}

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
    `The key ${key} at ${store} should be a hash of the offset store, but it is a ${type}.`,
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
