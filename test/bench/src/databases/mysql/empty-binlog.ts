import { endSession, sessionsOf, type MysqlServer } from '@strandline/servers';
import type { Connection } from 'mysql2/promise';

/** Forgets all that was logged. Former readers go first: the server does not take the log away under them. */
export async function emptyBinlog(sql: Connection, kind: MysqlServer['kind']): Promise<void> {
  for (const { id, command } of await sessionsOf(sql))
    if (command.startsWith('Binlog Dump')) await endSession(sql, id);
  await sql.query(kind === 'mysql' ? 'reset binary logs and gtids' : 'reset master');
}
