import type { InstanceReport } from '@strandline/core';
import { z } from 'zod';
import { OffsetsError } from './errors.js';
import { json } from './json-text.js';

const record = json(
  z.object({
    id: z.string(),
    host: z.string(),
    pid: z.int(),
    state: z.string(),
    epoch: z.int().nullable(),
    startedAt: z.string(),
    reportedAt: z.string(),
    details: z.unknown(),
  }),
);

export function encodeReport(report: InstanceReport): string {
  return JSON.stringify(report);
}

/** @throws OffsetsError `OFFSETS_CORRUPT` when this version can't read it. */
export function decodeReport(text: string, key: string, store: string): InstanceReport {
  const parsed = record.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new OffsetsError(
    'OFFSETS_CORRUPT',
    `What a process says of itself in the key ${key} at ${store} can't be read by this version of Strandline.`,
    'Remove the key: processes that run say it again within seconds.',
  );
}
