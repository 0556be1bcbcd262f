export type { BatchHandler, BatchPipelineOptions, Handler, PipelineOptions } from './config.js';
export { PipelineError, type PipelineErrorCode } from './errors.js';
export type { HandlerContext } from './handler-context.js';
export { definePipeline, type Pipeline } from './pipeline.js';
export type { PauseReason } from './run.js';
export type { PipelineState, PipelineStatus } from './status.js';
