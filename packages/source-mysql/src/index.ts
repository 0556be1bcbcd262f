export type { MysqlOptions } from './config.js';
export { MysqlSourceError, type MysqlErrorCode } from './errors.js';
export { mysql } from './mysql.js';
