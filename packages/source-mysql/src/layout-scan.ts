import { BinlogConnection } from './binlog-connection.js';
import type { BinlogEvent, QueryEvent, RotateEvent } from './binlog-events.js';
import { mysqlError } from './errors.js';
import type { LiveLogOptions } from './live-log-options.js';
import type { LogPlace } from './log-place.js';
import { compareFiles, type FilePosition } from './position.js';
import { readLogEnd, type LogEnd } from './server.js';
import { findTable, type TableFacts } from './table.js';

/** Milliseconds between signs of life, of which each tells how far the log was read. */
const HEARTBEAT = 500;

/** DDL after which rows of the table may have another layout. */
const CHANGES_TABLE =
  /^\s*(?:\/\*[\s\S]*?\*\/\s*)*(?:ALTER\s+(?:ONLINE\s+|IGNORE\s+)*TABLE|RENAME\s+TABLES?|DROP\s+(?:TABLES?|DATABASE|SCHEMA)|CREATE\s+(?:OR\s+REPLACE\s+)?TABLE)\b/i;

/** Whether behind this statement rows of the table may have another layout. */
export function changesLayout({ schema, name }: TableFacts, statement: string, database: string): boolean {
  if (!CHANGES_TABLE.test(statement)) return false;
  const text = statement.toLowerCase();
  if (/^\s*drop\s+(database|schema)\b/.test(text)) return text.includes(schema.toLowerCase());
  return text.includes(name.toLowerCase()) && (database === schema || text.includes(schema.toLowerCase()));
}

/**
 * A log without column names is read with the names of the table as it is now, and columns that have changed places
 * may look the same. So the rest of the log is looked through once, before any of it is read: throws
 * `MYSQL_TABLE_CHANGED` when it has rows from before a change of the table. Resolves with the place up to which
 * changes are those that the table has gone through.
 */
export async function scanLayouts(
  live: Omit<LiveLogOptions, 'start' | 'layouts'>,
  start: LogPlace,
  signal: AbortSignal,
): Promise<LogEnd> {
  const { connector, facts, table, config } = live;
  const sql = await connector.connect();
  try {
    const before = await readLogEnd(sql, facts);
    const now = await findTable(sql, config.outbox);
    const end = await readLogEnd(sql, facts);
    if (JSON.stringify(now.columns) !== JSON.stringify(table.columns)) throw changed(table, 'at its start');
    const isAtEnd = facts.gtids ? start.executed === end.executed : compareFiles(start.at, end.at) >= 0;
    if (!isAtEnd) await lookThrough(live, start, before.at, end.at, signal);
    return end;
  } finally {
    sql.destroy();
  }
}

async function lookThrough(
  { connector, facts, table, serverId, config }: Omit<LiveLogOptions, 'start' | 'layouts'>,
  start: LogPlace,
  known: FilePosition,
  end: FilePosition,
  signal: AbortSignal,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let at: FilePosition = start.at;
    let hasRows = false;
    const onEvent = (event: BinlogEvent): void => {
      const type = event.getTypeName();
      if (type === 'WriteRows') hasRows = true;
      if (type === 'Query') {
        const { query, schema } = event as QueryEvent;
        if (changesLayout(table, query, schema) && (hasRows || compareFiles(at, known) >= 0))
          throw changed(table, `at ${at.file}:${String(at.offset)}`);
      }
      if (type === 'Rotate')
        at = { file: (event as RotateEvent).binlogName, offset: (event as RotateEvent).position };
      else if (event.nextPosition > at.offset) at = { file: at.file, offset: event.nextPosition };
      if (compareFiles(at, end) >= 0) connection.close();
    };
    const connection = new BinlogConnection(connector.options, {
      event: onEvent,
      raw: () => undefined,
      ended: (error) => {
        signal.removeEventListener('abort', close);
        if (compareFiles(at, end) >= 0 || signal.aborted) resolve();
        else reject(error instanceof Error ? error : new Error(String(error)));
      },
    });
    const close = (): void => {
      connection.close();
    };
    signal.addEventListener('abort', close, { once: true });
    connection
      .start({
        serverId,
        executed: facts.gtids ? start.executed : null,
        file: start.at.file,
        offset: start.at.offset,
        schema: table.schema,
        table: table.name,
        heartbeat: HEARTBEAT,
        silenceTimeout: config.silenceTimeout,
      })
      .catch(() => undefined);
  });
}

export function changed({ label }: TableFacts, where: string): Error {
  return mysqlError(
    'MYSQL_TABLE_CHANGED',
    `The table ${label} was changed ${where}, and the log has no column names to read its rows by.`,
    "Start again: with the columns of now, what follows can be read. Should rows from before a change be left in the log, they can't be: set binlog_row_metadata = FULL for the next time, handle them yourself and start under a new pipeline name.",
  );
}
