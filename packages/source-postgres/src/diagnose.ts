import type { DiagnosisRequest, Finding } from '@strandline/core';
import type pg from 'pg';
import { endClient } from './connection.js';
import type { SessionRequest } from './session.js';

/** A slot whose margin is a smaller part of its limit is on its way to be lost. */
const NARROW = 0.25;

const LOST =
  'What a slot no longer keeps is gone: the pipeline stops, and the events between must be made up for.';

interface Facts {
  /** `-1` for none, or with its unit. */
  readonly limit: string;
  /** Bytes; null for none. */
  readonly limitBytes: number | null;
  /** Seconds; 0 for none, and on servers that have no such limit. */
  readonly idleTimeout: number;
  readonly slot: SlotState | null;
}

interface SlotState {
  readonly status: string;
  /** Bytes that may be written until the slot is in danger; null when there is no limit. */
  readonly safeBytes: number | null;
  readonly retainedBytes: number | null;
}

/** How long the server keeps the log for the pipeline's slot. */
export async function diagnose(
  { connector, slot: name }: Pick<SessionRequest, 'connector' | 'slot'>,
  { offset }: Pick<DiagnosisRequest, 'offset'>,
): Promise<readonly Finding[]> {
  const sql = await connector.sql();
  try {
    const facts = await read(sql, name);
    return [slotFinding(name, facts, offset !== null), limitFinding(facts), idleFinding(facts)];
  } finally {
    await endClient(sql);
  }
}

async function read(sql: pg.Client, name: string): Promise<Facts> {
  const settings = await sql.query<Record<string, string | null>>(
    `select current_setting('max_slot_wal_keep_size') as limit,
            (select setting::bigint * 1048576 from pg_settings where name = 'max_slot_wal_keep_size')::text as limit_bytes,
            (select setting from pg_settings where name = 'idle_replication_slot_timeout') as idle`,
  );
  const slots = await sql.query<Record<string, string | null>>(
    `select wal_status, safe_wal_size::text as safe,
            pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end,
                            restart_lsn)::text as retained
     from pg_replication_slots where slot_name = $1`,
    [name],
  );
  const [setting = {}] = settings.rows;
  const [slot] = slots.rows;
  const limitBytes = Number(setting['limit_bytes'] ?? -1);
  return {
    limit: setting['limit'] ?? '-1',
    limitBytes: limitBytes < 0 ? null : limitBytes,
    idleTimeout: Number(setting['idle'] ?? 0),
    slot:
      slot === undefined
        ? null
        : {
            status: slot['wal_status'] ?? 'lost',
            safeBytes: numberOf(slot['safe']),
            retainedBytes: numberOf(slot['retained']),
          },
  };
}

function slotFinding(name: string, { slot, limitBytes }: Facts, hasRun: boolean): Finding {
  const check = 'postgres-slot';
  const why = LOST;
  if (slot === null) {
    return hasRun
      ? {
          ...{
            check,
            why,
            result: 'fail',
            found: `there is no slot ${name}, though the pipeline has an offset`,
          },
          remedy:
            'Start the pipeline: it stops with PG_SLOT_MISSING, which says what can be done. Look first for who dropped the slot.',
        }
      : {
          check,
          why,
          result: 'pass',
          found: `there is no slot ${name} yet: the first start makes it`,
          remedy: null,
        };
  }
  const { status, safeBytes, retainedBytes } = slot;
  const found = [
    `${name}: wal_status ${status}`,
    ...(retainedBytes === null ? [] : [`${megabytes(retainedBytes)} kept`]),
    ...(safeBytes === null ? [] : [`${megabytes(safeBytes)} until it is in danger`]),
  ].join(', ');
  if (status === 'lost') {
    const remedy = `Start the pipeline: it stops with PG_SLOT_LOST, which says what can be done. And: ${noLimit}`;
    return { check, why, result: 'fail', found, remedy };
  }
  if (status === 'unreserved') return { check, why, result: 'fail', found, remedy: `At once: ${noLimit}` };
  const narrow = safeBytes !== null && limitBytes !== null && safeBytes < limitBytes * NARROW;
  return { check, why, result: narrow ? 'warn' : 'pass', found, remedy: narrow ? noLimit : null };
}

const noLimit = "alter system set max_slot_wal_keep_size = '-1'; select pg_reload_conf();";

function limitFinding({ limit, limitBytes }: Facts): Finding {
  const unlimited = limitBytes === null;
  return {
    check: 'postgres-slot-limit',
    result: unlimited ? 'pass' : 'warn',
    found: unlimited
      ? 'max_slot_wal_keep_size -1: the slot is kept, so watch the disk while the pipeline is away'
      : `max_slot_wal_keep_size ${limit}: a pipeline that is further behind loses its slot`,
    why: LOST,
    remedy: unlimited ? null : noLimit,
  };
}

function idleFinding({ idleTimeout }: Facts): Finding {
  return {
    check: 'postgres-slot-idle',
    result: idleTimeout === 0 ? 'pass' : 'warn',
    found:
      idleTimeout === 0
        ? 'no time-out for a slot that nobody reads'
        : `idle_replication_slot_timeout ${String(idleTimeout)} s: a pipeline that is away for so long loses its slot`,
    why: LOST,
    remedy:
      idleTimeout === 0
        ? null
        : "alter system set idle_replication_slot_timeout = '0'; select pg_reload_conf();",
  };
}

function numberOf(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : Number(text);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
