import type { Finding } from '@strandline/core';
import type { Pipeline, PipelineDesk } from '@strandline/pipeline';
import { createLog } from '../log.js';
import { lookAtPipeline } from '../status/look.js';
import { lookAt, valueOf, type Looked } from '../status/looked.js';
import { reportOf, type StatusReport } from '../status/report.js';

/** What of a pipeline a finding is about, in the order in which they are told. */
export const PLACES = ['pipeline', 'source', 'offsets', 'deadLetters', 'handler'] as const;
export type Place = (typeof PLACES)[number];

export interface PlacedFinding extends Finding {
  readonly place: Place;
}

/** What was found of a pipeline; `--json` prints it as it is. */
export interface Examination {
  readonly pipeline: string;
  readonly findings: readonly PlacedFinding[];
}

/**
 * Milliseconds that one place may take in all: longer than it lets its own questions take, so that what was answered
 * is not lost with what was not.
 */
const PATIENCE = 20_000;

const LABELS: Readonly<Record<Place, string>> = {
  pipeline: 'the pipeline',
  source: 'the source',
  offsets: 'the offset store',
  deadLetters: 'the dead-letter table',
  handler: 'the handler',
};

const CHECKS: Readonly<Record<Place, string>> = {
  ...{ pipeline: 'pipeline', source: 'source', offsets: 'offsets', handler: 'handler' },
  deadLetters: 'letters',
};

type Look = (signal: AbortSignal) => Promise<readonly Finding[]>;

/** A config may bring an older copy of the packages: then some of it has nothing to tell. */
type Older<T> = Partial<T>;

/** Has everything that a pipeline stands on look at its servers, and touches nothing. */
export async function examine(pipeline: Pipeline): Promise<Examination> {
  const { name, offsets, source, deadLetters } = pipeline;
  const { handlerParts = [] } = pipeline as Older<Pipeline>;
  const seen = await lookAtPipeline(pipeline);
  const lag = lagOf(reportOf(seen));
  const offset = valueOf(seen.offset);
  const log = createLog('silent');
  const looks: readonly (readonly [Place, Look])[] = [
    ['pipeline', () => Promise.resolve((pipeline as Older<Pipeline>).diagnose?.() ?? [])],
    [
      'source',
      async (signal) => (await source.diagnose?.({ pipeline: name, signal, log, offset, lag })) ?? [],
    ],
    ['offsets', async () => (await offsets.diagnose?.()) ?? []],
    ['deadLetters', async () => (await (deadLetters as Older<PipelineDesk> | null)?.diagnose?.()) ?? []],
    ...handlerParts.map((part): readonly [Place, Look] => [
      'handler',
      async (signal) => (await part.diagnose?.({ pipeline: name, signal, log })) ?? [],
    ]),
  ];
  const found = await Promise.all(
    looks.map(async ([place, look]) => placed(place, await lookAt(look, PATIENCE))),
  );
  return { pipeline: name, findings: found.flat() };
}

/** In seconds. When nothing runs, what has committed since the offset was saved waits for so long. */
function lagOf({ lag, offset, owner, unasked }: StatusReport): number | null {
  if (owner !== null || unasked.some(({ place }) => place === 'offsets')) return lag.seconds;
  return lag.seconds ?? offset?.age ?? null;
}

function placed(place: Place, looked: Looked<readonly Finding[]>): readonly PlacedFinding[] {
  if ('value' in looked) return looked.value.map((finding) => ({ place, ...finding }));
  const { code, message } = looked.away;
  return [
    {
      place,
      check: CHECKS[place],
      result: 'fail',
      found: `${LABELS[place]} can't be asked${code === null ? '' : `: ${code}`}`,
      why: 'The pipeline needs it, and from here nothing can be told of it.',
      remedy: message,
    },
  ];
}
