import type { OffsetView } from '@strandline/pipeline';
import type { PipelineOptions } from '../options.js';
import { bytesText } from '../units.js';
import { written } from '../streams.js';
import { amount, json, printable, table } from '../text.js';
import type { AtOffset } from './at-offset.js';

/** Tells where the pipeline stands, and how far the log reaches. */
export async function show({ pipeline, desk, streams }: AtOffset, options: PipelineOptions): Promise<void> {
  const { offset, replaced, log, trouble } = await desk.show();
  const fault = trouble && { code: trouble.code, message: trouble.message, remedy: trouble.remedy };
  await written(
    streams.stdout,
    options.json === true
      ? json({ pipeline, offset, replaced, log, trouble: fault })
      : describe(pipeline, { offset, replaced, log, trouble }),
  );
}

function describe(pipeline: string, { offset, replaced, log, trouble }: OffsetView): string {
  const { bytesBehind: behind = null, reachable = null } = log ?? {};
  const fields: readonly (readonly [string, string | null | undefined])[] = [
    ['pipeline', pipeline],
    ['watermark', offset === null ? 'none: it never ran, or was reset' : offset.watermark],
    ['settled above', offset && amount(offset.completed.length, 'run')],
    ['epoch', offset && String(offset.epoch)],
    ['saved at', offset?.savedAt],
    ...Object.entries(offset?.identity ?? {}).map(([name, text]) => [name, text] as const),
    ['log ends at', log?.head],
    ['log begins after', log === null ? null : (log.earliest ?? 'nothing of it can be read')],
    ['behind', behind === null ? null : bytesText(behind)],
    ['can be read on', reachable === null ? null : reachable ? 'yes' : 'no'],
    ['log', trouble && `can't be looked at: ${trouble.message}`],
    ['before the last change', replaced && (replaced.offset?.watermark ?? 'none')],
    ['changed at', replaced?.replacedAt],
  ];
  return table(
    fields.flatMap(([name, text]) =>
      text === null || text === undefined ? [] : [[printable(name), printable(text)]],
    ),
  );
}
