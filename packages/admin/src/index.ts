export { parseAddress, urlOf, type Address } from './address.js';
export { AdminServer, type AdminOptions } from './admin-server.js';
export { AdminError, type AdminErrorCode } from './errors.js';
export type { PipelineHealth } from './health/verdict.js';
