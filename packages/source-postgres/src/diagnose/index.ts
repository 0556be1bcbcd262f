import {
  findingsOf,
  StrandlineError,
  type Asked,
  type Check,
  type DiagnosisRequest,
  type Finding,
} from '@strandline/core';
import { Asking, unlessUnasked } from '@strandline/source-kit';
import { connectError, errorCodeOf } from '../connect-errors.js';
import { applicationNamePrefix, endClient } from '../connection.js';
import type { SessionRequest } from '../session.js';
import { askReplication, askServer, askService } from './ask-server.js';
import { askSlots, askStandbys, askTransactions } from './ask-slots.js';
import { askPublication, askPublications, askTable } from './ask-table.js';
import type { PostgresFacts, TableState } from './facts.js';
import { PUBLICATION_CHECKS } from './publication.js';
import { RETENTION_CHECKS } from './retention.js';
import { SERVER_CHECKS } from './server.js';
import { directAddress, serviceOfHost } from './service.js';
import { SLOT_CHECKS } from './slot.js';
import { TABLE_CHECKS } from './table.js';
import { askVacuum, VACUUM_CHECKS } from './vacuum.js';

/** Every check of a Postgres source, in the order in which they are told. */
export const POSTGRES_CHECKS: readonly Check<PostgresFacts>[] = [
  ...SERVER_CHECKS,
  ...TABLE_CHECKS,
  ...PUBLICATION_CHECKS,
  ...SLOT_CHECKS,
  ...RETENTION_CHECKS,
  ...VACUUM_CHECKS,
];

/** Whether the server has what the pipeline needs. Touches nothing. */
export async function diagnose(
  request: SessionRequest,
  asked: Pick<DiagnosisRequest, 'offset' | 'pipeline'>,
): Promise<readonly Finding[]> {
  try {
    return findingsOf(POSTGRES_CHECKS, await factsOf(request, asked));
  } catch (error) {
    if (error instanceof StrandlineError && error.code === 'PG_POOLER')
      return [behindPooler(request, error as StrandlineError)];
    throw error;
  }
}

async function factsOf(
  request: SessionRequest,
  { offset, pipeline }: Pick<DiagnosisRequest, 'offset' | 'pipeline'>,
): Promise<PostgresFacts> {
  const { connector, config, slot, publication: publicationName } = request;
  const sql = await connector.sql();
  try {
    const server = await askServer(sql);
    const asking = new Asking((error) => unasked(error, server.role, connector.target));
    const service = await askService(sql, asking);
    const { outbox } = config;
    const table = outbox === null ? null : await asking.ask(() => askTable(sql, outbox));
    const known = table ?? { answer: 'missing' as const };
    const ofTable = <T>(ask: (found: TableState | null) => Promise<T>): Promise<Asked<T>> =>
      unlessUnasked(known, (found) => asking.ask(() => ask(found === 'missing' ? null : found)));
    return {
      ...{ config, offset, server, service, table, publicationName, slotName: slot },
      namePrefix: applicationNamePrefix(pipeline),
      replication: await askReplication(request),
      publication: await ofTable((found) => askPublication(sql, publicationName, server.version, found)),
      publications: await ofTable((found) =>
        found === null ? Promise.resolve([]) : askPublications(sql, found),
      ),
      slots: await asking.ask(() => askSlots(sql, slot, server.version)),
      transactions: await asking.ask(() => askTransactions(sql)),
      standbys: await asking.ask(() => askStandbys(sql)),
      vacuum: await asking.ask(() =>
        outbox === null ? Promise.resolve(null) : askVacuum(sql, outbox.table),
      ),
    };
  } finally {
    await endClient(sql);
  }
}

/** The catalog is open to everyone by default: where it is not, or where a function is not, the server names it. */
function unasked(error: unknown, role: string, target: string): { unasked: string; remedy: string } {
  const { message } = error instanceof Error ? error : new Error(String(error));
  if (errorCodeOf(error) === '42501') {
    const [, kind = 'function', name = '…'] =
      /permission denied for (table|view|function|schema) (\S+)/.exec(message) ?? [];
    const right =
      kind === 'function' ? 'execute on function' : kind === 'schema' ? 'usage on schema' : 'select on';
    return { unasked: message, remedy: `grant ${right} ${name} to ${role};` };
  }
  return { unasked: message, remedy: connectError(error, target).remedy };
}

function behindPooler({ config }: SessionRequest, error: StrandlineError): Finding {
  const host = config.connection.host ?? '';
  return {
    check: 'postgres-pooler',
    result: 'fail',
    found: error.message.slice(0, error.message.length - error.remedy.length).trim(),
    why: 'Replication needs a session with the server itself, as long as the pipeline runs.',
    remedy: directAddress(serviceOfHost(host)),
  };
}
