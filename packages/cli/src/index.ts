export { CliError, type CliErrorCode } from './errors.js';
export { exitCodes } from './exit-codes.js';
export { main } from './main.js';
export type { Output, Streams } from './streams.js';
