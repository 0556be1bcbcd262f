import { findingsOf, type Asked, type Check, type DiagnosisRequest, type Finding } from '@strandline/core';
import { Asking } from '@strandline/source-kit';
import type { MysqlConfig } from '../config.js';
import { errnoOf } from '../connect-errors.js';
import { queryRows } from '../connection.js';
import { lockName } from '../lock.js';
import { serverOf, type ServerFacts } from '../server.js';
import type { Session } from '../session.js';
import { findTable, type TableFacts } from '../table.js';
import {
  askGrants,
  askKeptHours,
  askLog,
  askOwner,
  askReplication,
  askServer,
  askService,
} from './ask-server.js';
import { askReach, askTable, refusedOf } from './ask-table.js';
import { BINLOG_CHECKS } from './binlog.js';
import type { MysqlFacts, Refused, ServerState } from './facts.js';
import { RETENTION_CHECKS } from './retention.js';
import { SERVER_CHECKS } from './server.js';
import { keepHours } from './service.js';
import { PRIVILEGE_CHECKS, TABLE_CHECKS } from './table.js';

/** Every check of a MySQL or MariaDB source, in the order in which they are told. */
export const MYSQL_CHECKS: readonly Check<MysqlFacts>[] = [
  ...SERVER_CHECKS,
  ...BINLOG_CHECKS,
  ...RETENTION_CHECKS,
  ...TABLE_CHECKS,
  ...PRIVILEGE_CHECKS,
];

export interface Diagnosis extends Pick<DiagnosisRequest, 'pipeline' | 'offset' | 'lag'> {
  readonly config: MysqlConfig;
}

/** Whether the server has what the pipeline needs. Touches nothing. */
export async function diagnose(sql: Session, diagnosis: Diagnosis): Promise<readonly Finding[]> {
  return findingsOf(MYSQL_CHECKS, await factsOf(sql, diagnosis));
}

async function factsOf(sql: Session, { config, pipeline, offset, lag }: Diagnosis): Promise<MysqlFacts> {
  const server = await askServer(sql, config.connection.host ?? 'localhost');
  const asking = new Asking((error) => unasked(error, server));
  const service = await askService(sql, asking, server);
  const facts = serverFactsOf(server);
  const found = await refusable(asking, () => findTable(sql, config.outbox));
  const ofTable = async <T>(ask: (table: TableFacts) => Promise<T>): Promise<Asked<T> | Refused> =>
    'answer' in found ? refusable(asking, () => ask(found.answer)) : found;
  const owner = await ofTable(({ label }) => askOwner(sql, lockName(label, pipeline)));
  return {
    ...{ config, offset, lag, service, server },
    grants: await asking.ask(() => askGrants(sql, server)),
    table: await ofTable((table) => askTable(sql, table, { config, pipeline, server: facts.server })),
    log: await asking.ask(() => askLog(sql, server)),
    replication: await asking.ask(() => askReplication(sql)),
    prepared: await asking.ask(async () => (await queryRows(sql, 'xa recover')).length),
    keptHours: keepHours(service, 0) === null ? { answer: null } : await asking.ask(() => askKeptHours(sql)),
    owner: 'code' in owner ? { answer: null } : owner,
    reach: await ofTable((table) => askReach(sql, facts, table, offset)),
  };
}

/** What the pipeline would stop with is an answer, too. */
async function refusable<T>(asking: Asking, ask: () => Promise<T>): Promise<Asked<T> | Refused> {
  const asked = await asking.ask<{ readonly answer: T } | Refused>(async () => {
    try {
      return { answer: await ask() };
    } catch (error) {
      return refusedOf(error);
    }
  });
  return 'answer' in asked ? asked.answer : asked;
}

function serverFactsOf({ flavour, variables }: ServerState): ServerFacts {
  return {
    flavour,
    version: variables.get('version') ?? '',
    server: serverOf(variables),
    gtids: flavour === 'mariadb' || variables.get('gtid_mode') === 'ON',
  };
}

/** ER_SPECIFIC_ACCESS_DENIED_ERROR and others that name what is missing: `you need (at least one of) the … privilege(s)`. */
const NEEDED = /the (.+?) privilege\(s\) for this operation/;
const XA_REFUSED = 1401;
const TABLE_DENIED = /command denied to user .* for table [`']?([^`'\s]+?)[`']?\.?[`']?([^`'\s]*)[`']?$/;

function unasked(
  error: unknown,
  { user }: ServerState,
): { readonly unasked: string; readonly remedy: string } {
  const { message } = error instanceof Error ? error : new Error(String(error));
  if (errnoOf(error) === XA_REFUSED)
    return { unasked: message, remedy: `grant xa_recover_admin on *.* to ${user};` };
  const privilege = NEEDED.exec(message)?.[1]
    ?.split(/, | or /)
    .at(-1);
  if (privilege !== undefined)
    return { unasked: message, remedy: `grant ${privilege.toLowerCase()} on *.* to ${user};` };
  if (TABLE_DENIED.test(message))
    return { unasked: message, remedy: `grant select on mysql.rds_configuration to ${user};` };
  return {
    unasked: message,
    remedy: 'Look at the load of the server, and at the network between; then ask again.',
  };
}
