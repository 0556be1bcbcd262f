import type { Choice } from '../choice.js';
import { parseGrants, type Grants } from './grants.js';
import { grantLines, type ServerFacts } from './server-facts.js';
import { errnoOf, literal, type Session } from './session.js';

/** What is there of what a choice needs. */
export interface Needs {
  /**
   * The account of the role, such as `'strandline'@'%'`, and whether it is there: null where this user may not see that.
   */
  readonly account: string;
  readonly isThere: boolean | null;
  /** Of the account; null where this user may not see them, or there is none. */
  readonly grants: Grants | null;
  readonly hasTable: boolean;
}

/** ER_TABLEACCESS_DENIED_ERROR, ER_DBACCESS_DENIED_ERROR, ER_COLUMNACCESS_DENIED_ERROR, ER_SPECIFIC_ACCESS_DENIED_ERROR */
const DENIED = new Set([1044, 1142, 1143, 1227]);
/** ER_NONEXISTING_GRANT */
const NO_SUCH_ACCOUNT = 1141;

export async function readNeeds(session: Session, server: ServerFacts, choice: Choice): Promise<Needs> {
  const { role, table } = choice;
  const [found] = await session.rows(
    'select table_name as name from information_schema.tables where table_schema = ? and table_name = ?',
    [table.schema, table.name],
  );
  const hosts = await hostsOf(session, role);
  const account = `${literal(role)}@${literal(hosts === null || hosts.includes('%') ? '%' : (hosts[0] ?? '%'))}`;
  const isSelf = role === server.user;
  const isThere = isSelf ? true : hosts === null ? null : hosts.length > 0;
  const grants = isSelf ? server.grants : isThere === true ? await grantsOf(session, account) : null;
  return { account, isThere, grants, hasTable: found !== undefined };
}

/** From where accounts of that name may come; null where this user may not see accounts. */
export async function hostsOf(session: Session, role: string): Promise<readonly string[] | null> {
  try {
    const rows = await session.rows('select host as host from mysql.user where user = ?', [role]);
    return rows.map((row) => row['host'] ?? '');
  } catch (error) {
    if (DENIED.has(errnoOf(error))) return null;
    throw error;
  }
}

async function grantsOf(session: Session, account: string): Promise<Grants | null> {
  try {
    return parseGrants(await grantLines(session, `show grants for ${account}`));
  } catch (error) {
    if (DENIED.has(errnoOf(error)) || errnoOf(error) === NO_SUCH_ACCOUNT) return null;
    throw error;
  }
}
