/** `strandline/tracing`: apart from `strandline`, since it needs `@opentelemetry/api`, which who traces has. */
export { tracing, TracingError, type Tracing, type TracingOptions } from '@strandline/tracing';
