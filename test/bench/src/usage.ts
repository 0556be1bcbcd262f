import { BENCHMARK_NAMES, BENCHMARKS } from './benchmarks/benchmarks.js';
import { DATABASES } from './databases/names.js';
import { OFFSETS } from './readers/pipeline-parts.js';
import { WORKLOAD_NAMES } from './workloads/workloads.js';

/** Thrown for arguments that make no sense; its message is all that the person needs to see. */
export class UsageError extends Error {}

const parts = BENCHMARK_NAMES.map((name) => {
  const { about, minutes } = BENCHMARKS[name];
  return `  ${name.padEnd(10)} ${about} (${String(minutes)} min)`;
});

const minutes = BENCHMARK_NAMES.reduce((sum, name) => sum + BENCHMARKS[name].minutes, 0);

export const USAGE = `npm run bench -- [options]

  --database NAME  one of ${DATABASES.join(', ')} (default postgres)
  --only PART      a part of the list below; may be given several times (default: all)
  --workload NAME  of drain, keys and handlers one workload; may be given several times (default: all):
                   ${WORKLOAD_NAMES.join(', ')}
  --rows N         rows of a backlog, 1,000 to 10,000,000 (default 200,000); the other amounts follow from it
  --memory-rows N  rows of the long backlog that memory is watched over, 1,000 to 100,000,000 (default: 10 times --rows)
  --rounds N       rounds, of which the median counts, 1 to 99 (default 5)
  --offsets KIND   where Strandline keeps its offset: ${OFFSETS.join(', ')} (default redis)
  --json           print one line of JSON on stdout, at the end, and nothing else
  --markdown       print Markdown on stdout, at the end, and nothing else
  --help           print this

Parts, with the minutes that each takes by default on two cores, about ${String(minutes)} in all:

${parts.join('\n')}

A quick look: --rows 20000 --rounds 1. The goals are meant for the defaults.
The exit code is 1 when an event was missed, repeated or out of its key's order: then there is no figure. A goal
that was not met does not change it: machines differ.
`;
