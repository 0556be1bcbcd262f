export { TracingError, type TracingErrorCode } from './errors.js';
export type { TracingOptions } from './options.js';
export { tracing, type Tracing } from './tracing.js';
