import type { Finding } from '@strandline/core';
import type { Pipeline } from '@strandline/pipeline';
import { createLog } from '../log.js';
import { lookAtPipeline } from '../status/look.js';
import { lookAt, valueOf, type Looked } from '../status/looked.js';
import { reportOf, type StatusReport } from '../status/report.js';

/** What was found of a pipeline; `--json` prints it as it is. */
export interface Examination {
  readonly pipeline: string;
  readonly findings: readonly Finding[];
}

/** Has the offset store and the source look at their servers, and touches nothing. */
export async function examine(pipeline: Pipeline): Promise<Examination> {
  const { name, offsets, source } = pipeline;
  const seen = await lookAtPipeline(pipeline);
  const lag = lagOf(reportOf(seen));
  const [ofOffsets, ofSource] = await Promise.all([
    lookAt(async () => (await offsets.diagnose?.()) ?? []),
    lookAt(
      async (signal) =>
        (await source.diagnose?.({
          ...{ pipeline: name, signal, log: createLog('silent') },
          ...{ offset: valueOf(seen.offset), lag },
        })) ?? [],
    ),
  ]);
  return {
    pipeline: name,
    findings: [
      ...findingsOf('offsets', 'the offset store', ofOffsets),
      ...findingsOf('source', 'the source', ofSource),
    ],
  };
}

/** In seconds. When nothing runs, what has committed since the offset was saved waits for so long. */
function lagOf({ lag, offset, owner, unasked }: StatusReport): number | null {
  if (owner !== null || unasked.some(({ place }) => place === 'offsets')) return lag.seconds;
  return lag.seconds ?? offset?.age ?? null;
}

function findingsOf(check: string, place: string, looked: Looked<readonly Finding[]>): readonly Finding[] {
  if ('value' in looked) return looked.value;
  const { code, message } = looked.away;
  return [
    {
      check,
      result: 'fail',
      found: `${place} can't be asked${code === null ? '' : `: ${code}`}`,
      why: 'The pipeline needs it, and from here nothing can be told of it.',
      remedy: message,
    },
  ];
}
