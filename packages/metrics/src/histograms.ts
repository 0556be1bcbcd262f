import { listen, type Pipeline } from '@strandline/pipeline';

/** A metric that is recorded as it happens. */
export interface HistogramSpec {
  readonly name: string;
  readonly unit: 's';
  readonly help: string;
  /** Beside `pipeline`. */
  readonly labels: readonly string[];
  /** Upper bounds, in seconds. */
  readonly buckets: readonly number[];
}

/** From the half millisecond that a commit takes to reach a handler to the minutes of a slow one. */
const BUCKETS = [
  0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

export const HANDLER_DURATION: HistogramSpec = {
  name: 'strandline_handler_duration_seconds',
  ...{ unit: 's', labels: ['kind'], buckets: BUCKETS },
  help: 'How long calls of handlers took, however they ended: of each call, up to two that start in one millisecond',
};

export const COMMIT_TO_HANDLER: HistogramSpec = {
  name: 'strandline_commit_to_handler_seconds',
  ...{ unit: 's', labels: [], buckets: BUCKETS },
  help: 'Time from the commit of an event to the first call of its handler, by two clocks: of the same calls',
};

export const COMMIT_DURATION: HistogramSpec = {
  name: 'strandline_commit_duration_seconds',
  ...{ unit: 's', labels: [], buckets: BUCKETS },
  help: 'How long commits of the offset took, also those that failed',
};

export const HISTOGRAMS: readonly HistogramSpec[] = [HANDLER_DURATION, COMMIT_TO_HANDLER, COMMIT_DURATION];

/** Where what happens is recorded: one function for each histogram, called with the labels and seconds. */
export interface Recorders {
  handlerDuration(pipeline: string, kind: string, seconds: number): void;
  commitToHandler(pipeline: string, seconds: number): void;
  commitDuration(pipeline: string, seconds: number): void;
}

/** Records what these pipelines tell from now on; the answer ends it. */
export function recordTimes(pipelines: readonly Pipeline[], recorders: Recorders): () => void {
  const names = new Set(pipelines.map(({ name }) => name));
  const ends = [
    listen('strandline:turn:timed', ({ pipeline, kind, duration, sinceCommit }) => {
      if (!names.has(pipeline)) return;
      recorders.handlerDuration(pipeline, kind, duration);
      if (sinceCommit !== null) recorders.commitToHandler(pipeline, sinceCommit);
    }),
    listen('strandline:commit:end', ({ pipeline, replay, duration }) => {
      if (replay === null && names.has(pipeline)) recorders.commitDuration(pipeline, duration);
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
