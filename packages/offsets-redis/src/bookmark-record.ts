import type { Bookmark } from '@strandline/core';
import { z } from 'zod';
import { OffsetsError } from './errors.js';
import { json } from './json-text.js';

const format = 1;

const record = json(
  z.object({
    format: z.literal(format),
    position: z.string(),
    identity: z.record(z.string(), z.string()),
    committedAt: z.string().nullable(),
    createdAt: z.string(),
  }),
);

export function encodeBookmark({ position, identity, committedAt, createdAt }: Bookmark): string {
  return JSON.stringify({ format, position, identity, committedAt, createdAt });
}

/** @throws OffsetsError `OFFSETS_CORRUPT` when this version can't read it. */
export function decodeBookmark(name: string, text: string, key: string, store: string): Bookmark {
  const parsed = record.safeParse(text);
  if (!parsed.success) {
    throw new OffsetsError(
      'OFFSETS_CORRUPT',
      `The bookmark ${JSON.stringify(name)} in the key ${key} at ${store} can't be read by this version of Strandline.`,
      'Delete the bookmark, or run the version that made it.',
    );
  }
  const { position, identity, committedAt, createdAt } = parsed.data;
  return { name, position, identity, committedAt, createdAt };
}
