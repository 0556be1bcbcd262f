import type { Pipeline } from '@strandline/pipeline';
import { cliError, type CliError } from './errors.js';

const METHODS = ['start', 'stop', 'status'] as const;

/**
 * The pipelines that a config exports: one, or a list. Told by their shape, since the config may bring its own
 * copy of the packages. Throws `CLI_CONFIG_INVALID`.
 */
export function pipelinesOf(exported: unknown, file: string): readonly Pipeline[] {
  const place = `The default export of ${file}`;
  if (!Array.isArray(exported)) return [pipelineOf(exported, place)];
  const pipelines = exported.map((item, index) => pipelineOf(item, `${place}, [${String(index)}],`));
  if (pipelines.length === 0) throw invalid(`${place} is an empty list: there is nothing to run.`);
  const names = pipelines.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw invalid(
      `${place} has two pipelines by the name ${twice}: they would share an offset, and one would stand by for ever.`,
      'Give each pipeline a name of its own.',
    );
  }
  return pipelines;
}

function pipelineOf(value: unknown, place: string): Pipeline {
  if (value === undefined) throw invalid(`${place} is missing.`);
  if (typeof value !== 'object' || value === null)
    throw invalid(`${place} is ${value === null ? 'null' : `a ${typeof value}`}, not a pipeline.`);
  if (typeof (value as PromiseLike<unknown>).then === 'function') {
    throw invalid(
      `${place} is a promise, not a pipeline.`,
      'Await it: a config may use await at its top level.',
    );
  }
  const parts = value as Partial<Pipeline>;
  const missing = [
    ...(typeof parts.name === 'string' ? [] : ['name']),
    ...METHODS.filter((method) => typeof parts[method] !== 'function').map((method) => `${method}()`),
    ...('finished' in value ? [] : ['finished']),
  ];
  if (missing.length > 0)
    throw invalid(`${place} is an object without ${missing.join(', ')}, not a pipeline.`);
  return value as Pipeline;
}

function invalid(
  problem: string,
  remedy = 'Write: export default definePipeline({ … }), or a list of such pipelines.',
): CliError {
  return cliError('CLI_CONFIG_INVALID', problem, remedy);
}
