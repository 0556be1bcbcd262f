import type { Database } from './database.js';
import type { Place } from './place.js';

/** The client library is loaded here, and no sooner. */
export async function openDatabase(place: Place): Promise<Database> {
  if (place.protocol === 'postgres') {
    const { PostgresDatabase } = await import('./postgres/postgres.js');
    return new PostgresDatabase(place);
  }
  const { MysqlDatabase } = await import('./mysql/mysql.js');
  return new MysqlDatabase(place);
}
