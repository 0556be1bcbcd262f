import { setTimeout as sleep } from 'node:timers/promises';
import {
  StrandlineError,
  type DiagnosisRequest,
  type Finding,
  type LogReader,
  type LogReaderRequest,
  type LogState,
  type OpenRequest,
  type OutboxPruner,
  type PrunerRequest,
  type Source,
  type SourceStream,
} from '@strandline/core';
import type { MysqlConfig } from './config.js';
import { connectError, isTransient } from './connect-errors.js';
import {
  createConnector,
  derivedServerId,
  randomServerId,
  withSession,
  type Connector,
} from './connection.js';
import { diagnose } from './diagnose/index.js';
import { identityOf } from './identity.js';
import type { LiveLogOptions } from './live-log-options.js';
import { Ownership } from './lock.js';
import { checkCoverage } from './log-coverage.js';
import { MysqlLogReader } from './log-reader.js';
import { readLogState } from './log-state.js';
import { createPending } from './pending.js';
import { openPruner } from './prune/pruner.js';
import { RowMapper } from './row-mapper.js';
import { inspectServer } from './server.js';
import type { Session } from './session.js';
import { startingPoint, StartOverError } from './starting-point.js';
import { MysqlStream } from './stream.js';
import { streamError } from './stream-errors.js';
import { findTable } from './table.js';

/** Milliseconds before everything is looked at anew when another process got in between. */
const START_OVER_DELAY = 100;

/** The order of opening: take the lock, load the offset, check, have the log sent, claim the offset, read. */
export class MysqlSource implements Source {
  readonly name = 'mysql';
  readonly #config: MysqlConfig;

  constructor(config: MysqlConfig) {
    this.#config = config;
  }

  async open(open: OpenRequest): Promise<SourceStream> {
    const connector = createConnector(this.#config.connection, this.#config, open.signal);
    for (;;) {
      try {
        return await this.#open(connector, open);
      } catch (error) {
        if (open.signal.aborted || !(error instanceof StartOverError)) throw explain(error, connector);
        await sleep(START_OVER_DELAY, undefined, { signal: open.signal });
      }
    }
  }

  async reader(request: LogReaderRequest): Promise<LogReader> {
    const connector = createConnector(this.#config.connection, this.#config, request.signal);
    try {
      const live = await withSession(connector, (sql) => this.#prepare(connector, sql, request));
      const ownLive = { ...live, serverId: randomServerId(live.serverId) };
      return await MysqlLogReader.open(ownLive, identityOf(live.facts, live.table), request);
    } catch (error) {
      throw request.signal.aborted ? error : explain(error, connector);
    }
  }

  async inspect({ signal }: Pick<LogReaderRequest, 'signal'>): Promise<LogState> {
    const { connection, metadata, outbox } = this.#config;
    const connector = createConnector(connection, this.#config, signal);
    try {
      return await withSession(connector, async (sql) => {
        const facts = await inspectServer(connector, sql, metadata);
        return readLogState(sql, facts, identityOf(facts, await findTable(sql, outbox)));
      });
    } catch (error) {
      throw signal.aborted ? error : explain(error, connector);
    }
  }

  async diagnose(request: DiagnosisRequest): Promise<readonly Finding[]> {
    const { signal } = request;
    const connector = createConnector(this.#config.connection, this.#config, signal);
    try {
      return await withSession(connector, (sql) => diagnose(sql, { ...request, config: this.#config }));
    } catch (error) {
      throw signal.aborted ? error : explain(error, connector);
    }
  }

  async pruner(asked: PrunerRequest): Promise<OutboxPruner | null> {
    const connector = createConnector(this.#config.connection, this.#config, asked.signal);
    try {
      return await openPruner(connector, this.#config, asked);
    } catch (error) {
      throw asked.signal.aborted ? error : explain(error, connector);
    }
  }

  async #open(connector: Connector, open: OpenRequest): Promise<SourceStream> {
    const config = this.#config;
    const sql = await connector.connect();
    let ownership: Ownership | null = null;
    try {
      const live = await this.#prepare(connector, sql, open);
      ownership = await Ownership.take(
        connector,
        config.silenceTimeout,
        live.table.label,
        open.pipeline,
        config.standby,
        (owner) => {
          open.standby(owner);
        },
        open.signal,
      );
      const identity = identityOf(live.facts, live.table);
      const { lost } = ownership;
      const start = await startingPoint(live, identity, {
        ...open,
        claim: (seed) => {
          // Whoever has the lock by now must not find a newer epoch than its own.
          if (lost.aborted) throw new StartOverError('the lock was lost meanwhile', { cause: lost.reason });
          return open.claim(seed);
        },
      });
      return new MysqlStream({
        live,
        identity: { ...identity, ...start.identity },
        offset: start.offset,
        start: start.place,
        ownership,
        snapshot: start.snapshot,
        connected: start.connected,
      });
    } catch (error) {
      ownership?.release();
      throw error;
    } finally {
      sql.destroy();
    }
  }

  async #prepare(
    connector: Connector,
    sql: Session,
    { pipeline, log }: Pick<OpenRequest, 'pipeline' | 'log'>,
  ): Promise<Omit<LiveLogOptions, 'start'>> {
    const config = this.#config;
    const facts = await inspectServer(connector, sql, config.metadata);
    const table = await findTable(sql, config.outbox);
    await checkCoverage(sql, facts, table, log);
    // A mapper of the catalog's columns throws for one that is missing, as it would for the log's.
    new RowMapper(config.outbox, table.label, table.columns, config.nullKey, table.charsets);
    if (!facts.gtids && config.visibility === 'committed') {
      log.warn(
        {},
        "without GTIDs it can't be told when a transaction becomes visible: events are handed out when they are logged",
      );
    }
    return {
      connector,
      config,
      facts,
      table,
      serverId: config.serverId ?? derivedServerId(`${facts.server}/${table.label}/${pipeline}`),
      pending: createPending(),
      log,
    };
  }
}

function explain(error: unknown, connector: Connector): unknown {
  if (error instanceof StrandlineError || !(error instanceof Error)) return error;
  return isTransient(error) ? connectError(error, connector.target) : streamError(error, '');
}
