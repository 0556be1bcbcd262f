import { queryRows } from '../connection.js';
import { parseExecuted } from '../gtids.js';
import type { LogPlace } from '../log-place.js';
import { statusStatement, type ServerFacts } from '../server.js';
import type { Session } from '../session.js';

/**
 * A place that everything visible so far lies before.
 *
 * The files get a transaction before its engine commits it, so their end will do without GTIDs, and MariaDB's
 * `gtid_binlog_pos`, which goes with them. MySQL adds a GTID to `gtid_executed` only once its rows can be seen; until then
 * it is in `gtid_owned`. It goes from the one to the other under a lock that the reading of each takes, and never back: so
 * whoever reads what is owned first, and then what is executed, has it in one of the two.
 */
export async function logEnd(sql: Session, facts: ServerFacts): Promise<LogPlace> {
  const [status] = await queryRows(sql, statusStatement(facts));
  const at = { file: status?.['File'] ?? '', offset: Number(status?.['Position']) };
  return { at, executed: facts.gtids ? await everythingLogged(sql, facts) : '' };
}

async function everythingLogged(sql: Session, facts: ServerFacts): Promise<string> {
  if (facts.flavour === 'mariadb') {
    const [row] = await queryRows(sql, 'select @@global.gtid_binlog_pos as logged');
    return row?.['logged'] ?? '';
  }
  const [owned] = await queryRows(sql, 'select @@global.gtid_owned as owned');
  const [executed] = await queryRows(sql, 'select @@global.gtid_executed as executed');
  const texts = [executed?.['executed'] ?? '', withoutOwners(owned?.['owned'] ?? '')];
  const text = texts.filter((one) => one !== '').join(',');
  return parseExecuted('mysql', text).text;
}

/** `uuid:23#7:24#9` names the session that owns each. */
export function withoutOwners(owned: string): string {
  return owned.replaceAll(/#\d+/g, '').replaceAll(/\s/g, '');
}
