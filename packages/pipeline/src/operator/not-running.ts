import type { InstanceReport } from '@strandline/core';
import { pipelineError } from '../errors.js';
import type { DeskParts } from './parts.js';

/** States in which a process does not and will not hand out events. */
const AT_REST: ReadonlySet<string> = new Set(['idle', 'stopped', 'failed']);

/** Throws `PIPELINE_RUNNING` while the pipeline runs or stands by, here or in any process that says so. */
export async function mustNotRun(parts: DeskParts): Promise<void> {
  const { name, offsets } = parts;
  const state = parts.state();
  if (!AT_REST.has(state)) throw running(name, `is ${state} in this process`);
  const active = (await offsets.instances.list(name)).filter((report) => !AT_REST.has(report.state));
  if (active.length > 0) throw running(name, `runs: ${active.map(describe).join(', ')}`);
}

function describe({ host, pid, state }: InstanceReport): string {
  return `process ${String(pid)} on ${host} (${state})`;
}

function running(name: string, how: string): Error {
  return pipelineError(
    'PIPELINE_RUNNING',
    `The pipeline ${name} ${how}, so its offset can't be changed.`,
    'Stop all of its processes first. One that was killed is forgotten after some seconds.',
  );
}
