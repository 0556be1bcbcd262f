import { queryRows } from './connection.js';
import type { Session } from './session.js';

/** Variables of the server by name in lower case; those that it does not have are missing. */
export async function queryVariables(
  sql: Session,
  scope: 'global' | 'session',
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const list = names.map((name) => `'${name}'`).join(', ');
  const rows = await queryRows(sql, `show ${scope} variables where variable_name in (${list})`);
  return new Map(rows.map((row) => [String(row['Variable_name']).toLowerCase(), String(row['Value'])]));
}
