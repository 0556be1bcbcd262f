import type { Offset, OffsetChange } from '@strandline/core';
import { z } from 'zod';
import { pipelineError, type PipelineError } from '../errors.js';

const record = z.object({
  format: z.literal('strandline-offset'),
  version: z.literal(1),
  pipeline: z.string(),
  exportedAt: z.string(),
  identity: z.record(z.string(), z.string()),
  watermark: z.string(),
  completed: z.array(z.object({ first: z.string(), last: z.string() })),
});

/** An offset as JSON, to keep it outside of its store. */
export function exportText(pipeline: string, { identity, watermark, completed }: Offset): string {
  const head = { format: 'strandline-offset', version: 1, pipeline, exportedAt: new Date().toISOString() };
  return `${JSON.stringify({ ...head, identity, watermark, completed }, null, 2)}\n`;
}

/** Throws `PIPELINE_IMPORT` for what is no such text, or another pipeline's. */
export function importText(pipeline: string, text: string): OffsetChange {
  const parsed = record.safeParse(parse(text));
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join('.') ?? '';
    throw wrongText(`can't be read as an exported offset${field && ` (${field})`}`);
  }
  const { pipeline: owner, identity, watermark, completed } = parsed.data;
  if (owner !== pipeline) throw wrongText(`is the offset of the pipeline ${JSON.stringify(owner)}`);
  return { identity, watermark, completed };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrongText('is no JSON');
  }
}

function wrongText(problem: string): PipelineError {
  return pipelineError(
    'PIPELINE_IMPORT',
    `The text to import ${problem}.`,
    'Import what strandline offsets export has written for this pipeline, by this version or an older one.',
  );
}
