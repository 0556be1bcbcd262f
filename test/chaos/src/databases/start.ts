import type { DatabaseName } from '../names.js';
import type { ChaosDatabase } from './chaos-database.js';
import { MysqlChaos } from './mysql.js';
import { PostgresChaos } from './postgres.js';

export function startDatabase(name: DatabaseName): Promise<ChaosDatabase> {
  return name === 'postgres' ? PostgresChaos.start() : MysqlChaos.start(name);
}
