export { ServerError, type ServerErrorCode } from './errors.js';
export type { ServerOrigin } from './origins/server-process.js';
export { startPostgres, postgresUrlVariable, type PostgresServer } from './postgres/postgres.js';
export { createDatabase, dropDatabase } from './postgres/postgres-databases.js';
export type { PostgresOptions } from './postgres/postgres-options.js';
export { startRedis, redisUrlVariable, type RedisServer } from './redis/redis.js';
export type { RedisOptions } from './redis/redis-options.js';
export { startPgBouncer, type PgBouncer, type PgBouncerOptions } from './pgbouncer/pgbouncer.js';
