import type { Controls } from '@strandline/core';
import { z } from 'zod';
import { OffsetsError } from './errors.js';
import { json } from './json-text.js';

const order = { by: z.string(), at: z.string(), note: z.string() };

const record = json(
  z.object({
    paused: z.object(order).nullable(),
    held: z.array(z.object({ key: z.string(), ...order })),
  }),
);

export function encodeControls({ paused, held }: Pick<Controls, 'paused' | 'held'>): string {
  return JSON.stringify({ paused, held });
}

/** @throws OffsetsError `OFFSETS_CORRUPT` when this version can't read it. */
export function decodeControls(revision: string, text: string, key: string, store: string): Controls {
  const parsed = record.safeParse(text);
  if (!parsed.success) {
    throw new OffsetsError(
      'OFFSETS_CORRUPT',
      `What operators have ordered, in the key ${key} at ${store}, can't be read by this version of Strandline.`,
      'Run the version that wrote it. To remove the key releases every held key and ends a pause.',
    );
  }
  return { revision: Number(revision), ...parsed.data };
}
