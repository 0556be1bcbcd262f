export { CliError, type CliErrorCode } from './errors.js';
export { exitCodes } from './exit-codes.js';
export { main, type Output } from './main.js';
