/** For the simulation, which composes so many pipelines that validating their options would take a tenth of its time. */
export { parsePipelineOptions, type PipelineConfig } from './config.js';
export { pipelineOf, type Pipeline } from './pipeline.js';
