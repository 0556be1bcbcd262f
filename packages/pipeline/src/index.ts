export type { HandlerContext } from '@strandline/core';
export type { BatchHandler, BatchPipelineOptions, Handler, PipelineOptions } from './config.js';
export type { LetterPage, PipelineDesk } from './desk.js';
export { PipelineError, type PipelineErrorCode } from './errors.js';
export { definePipeline, type Pipeline } from './pipeline.js';
export type { PauseReason } from './run.js';
export type { PipelineState, PipelineStatus } from './status.js';
