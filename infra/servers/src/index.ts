export { ServerError, type ServerErrorCode } from './errors.js';
export type { ServerOrigin } from './origins/server-process.js';
export { startPostgres, postgresUrlVariable, type PostgresServer } from './postgres/postgres.js';
export { createDatabase, dropDatabase } from './postgres/postgres-databases.js';
export type { PostgresOptions } from './postgres/postgres-options.js';
export { startRedis, redisUrlVariable, type RedisServer } from './redis/redis.js';
export type { RedisOptions } from './redis/redis-options.js';
export { prepareMysql, startMysql, mysqlUrlVariable } from './mysql/mysql.js';
export { binlogTool, type BinlogTool } from './mysql/binlog-tool.js';
export type { MysqlServer } from './mysql/mysql-server.js';
export { lowestReaderId, type MysqlOptions } from './mysql/mysql-options.js';
export {
  createMysqlDatabase,
  dropMysqlDatabase,
  endSession,
  sessionsOf,
  withConnection,
  type Session,
} from './mysql/mysql-databases.js';
export {
  isMysqlServerName,
  kindOf,
  mysqlServersOfRun,
  prepareMysqlServersOfRun,
  startMysqlServer,
  type MysqlServerName,
} from './mysql/servers-of-run.js';
export { startReplica, type MysqlReplica } from './mysql/replica.js';
export { prepareMariadb, startMariadb, mariadbUrlVariable } from './mariadb/mariadb.js';
export { buildGoProgram } from './tools/go.js';
export { pythonTool } from './tools/python.js';
export { startTool, type RunningTool } from './tools/running-tool.js';
export type { Tool } from './tools/tool.js';
export { startPgBouncer, type PgBouncer, type PgBouncerOptions } from './pgbouncer/pgbouncer.js';
export { promtool, type Promtool } from './prometheus/promtool.js';
export { runsInMemory } from './process/memory.js';
export { runsVariable } from './process/run-directory.js';
