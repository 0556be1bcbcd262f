import type { Logger, Offset } from '@strandline/core';
import type pg from 'pg';
import type { PostgresConfig } from './config.js';
import { endClient, type Connector } from './connection.js';
import type { DecoderOptions } from './decoder.js';
import { postgresError } from './errors.js';
import { checkOwner, type PostgresIdentity } from './identity.js';
import { findOutboxTable, type TableFacts } from './outbox-table.js';
import {
  createPublication,
  findPublication,
  publicationMissing,
  type PublicationFacts,
} from './publication.js';
import { inspectServer, type ServerFacts } from './server.js';
import { findSlot, slotMissing, type SlotFacts } from './slot.js';
import { RowMapper } from './row-mapper.js';

/** A checked server, and an SQL session with it. */
export interface Session {
  readonly sql: pg.Client;
  readonly server: ServerFacts;
  readonly table: TableFacts | null;
  readonly slot: SlotFacts | null;
  readonly identity: PostgresIdentity;
}

export interface SessionRequest {
  readonly connector: Connector;
  readonly config: PostgresConfig;
  readonly slot: string;
  readonly publication: string;
  readonly log: Logger;
}

/**
 * Connects, and checks everything that the stream will depend on: the server, the table and its columns, the
 * publication, the slot. Publication before slot: a slot can never decode a publication that is younger.
 *
 * @param saved the offset of a pipeline that ran before: it must belong here, and nothing is created for it
 */
export async function openSession(request: SessionRequest, saved: Offset | null): Promise<Session> {
  const { connector, config } = request;
  const sql = await connector.sql();
  try {
    const server = await inspectServer(connector, sql);
    const { rows } = await sql.query<{ database: string }>('select current_database() as database');
    const owner = {
      source: 'postgres',
      system: server.systemIdentifier,
      database: rows[0]?.database ?? '',
      slot: request.slot,
    } as const;
    if (saved !== null) checkOwner(saved, owner);
    const table = config.outbox && (await findOutboxTable(sql, config.outbox));
    // A mapper made from the catalog's columns throws for one that is missing, as it would for the log's.
    if (table !== null && config.outbox !== null) {
      new RowMapper(config.outbox, table.name, table.columns, config.nullKey);
    }
    const slot = await findSlot(sql, request.slot, server.version);
    const publication = await ensurePublication(request, sql, server, table, slot, saved);
    return {
      sql,
      server,
      table,
      slot,
      identity: {
        ...owner,
        timeline: String(server.timeline),
        publication: publication.oid,
        membership: publication.membership,
        table: table?.name ?? '',
        tableOid: table === null ? '' : String(table.oid),
      },
    };
  } catch (error) {
    await endClient(sql);
    throw error;
  }
}

async function ensurePublication(
  request: SessionRequest,
  sql: pg.Client,
  server: ServerFacts,
  table: TableFacts | null,
  slot: SlotFacts | null,
  saved: Offset | null,
): Promise<PublicationFacts> {
  const { config, publication: name } = request;
  const find = (): ReturnType<typeof findPublication> =>
    findPublication(sql, name, server.version, table, config.outbox);
  const found = await find();
  if (found !== null) return found;
  if (slot !== null) {
    throw postgresError(
      'PG_PUBLICATION_MISSING',
      `The replication slot ${request.slot} is there, its publication ${name} is not.`,
      'A publication made now can not cover what the slot has kept. If nothing was committed that matters, drop the slot and start again; if the publication was dropped by mistake, see the rows that are in the table.',
    );
  }
  if (saved !== null)
    throw slotMissing(request.slot, `, nor its publication ${name}, though the pipeline has an offset`);
  if (!config.create) throw publicationMissing(name, table);
  await createPublication(sql, name, table);
  const created = await find();
  if (created === null) throw publicationMissing(name, table);
  request.log.info({ publication: name }, 'created the publication');
  return created;
}

/** What the decoder has to know of a checked server. */
export function decoderOptions({ table }: Session, config: PostgresConfig): DecoderOptions {
  return {
    table: table && config.outbox && { outbox: config.outbox, oid: table.oid, name: table.name },
    messages: config.messages,
    nullKey: config.nullKey,
  };
}
