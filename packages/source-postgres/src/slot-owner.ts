import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenRequest } from '@strandline/core';
import type pg from 'pg';
import { errorCodeOf } from './connect-errors.js';
import { applicationNamePrefix, type Connector } from './connection.js';
import { postgresError } from './errors.js';

/** Milliseconds between looks at a slot that somebody else reads: a take-over within a second, without a storm. */
const LOOK_EVERY = 300;

const OBJECT_IN_USE = '55006';

interface Holder {
  readonly pid: number;
  readonly applicationName: string | null;
}

async function slotHolder(sql: pg.Client, slot: string): Promise<Holder | null> {
  const { rows } = await sql.query<{ pid: number; name: string | null }>(
    `select s.active_pid as pid, a.application_name as name
     from pg_replication_slots s left join pg_stat_activity a on a.pid = s.active_pid
     where s.slot_name = $1 and s.active_pid is not null`,
    [slot],
  );
  const [row] = rows;
  return row === undefined ? null : { pid: row.pid, applicationName: row.name };
}

export function isSlotInUse(error: unknown): boolean {
  return errorCodeOf(error) === OBJECT_IN_USE;
}

export interface SlotWait {
  readonly connector: Connector;
  readonly sql: pg.Client;
  readonly slot: string;
  readonly pipeline: string;
  readonly mode: 'wait' | 'fail';
  readonly standby: OpenRequest['standby'];
  readonly signal: AbortSignal;
}

/**
 * Waits until nobody reads the slot. The slot itself is the lock of a pipeline: another process of the
 * pipeline makes this one a standby.
 */
export async function waitForSlot(wait: SlotWait): Promise<void> {
  const { connector, sql, slot, pipeline } = wait;
  let told: string | null = null;
  for (;;) {
    wait.signal.throwIfAborted();
    const holder = await findForeignHolder(sql, slot, connector, pipeline);
    if (holder === null) return;
    if (wait.mode === 'fail') throw slotInUse(slot, holder);
    if (told !== holder) wait.standby(holder);
    told = holder;
    await sleep(LOOK_EVERY, undefined, { signal: wait.signal });
  }
}

/**
 * Who else reads the slot, by name; null when nobody does. A session of our own that the server still believes
 * in is ended. Throws `PG_SLOT_IN_USE` for another program.
 */
export async function findForeignHolder(
  sql: pg.Client,
  slot: string,
  connector: Connector,
  pipeline: string,
): Promise<string | null> {
  const holder = await slotHolder(sql, slot);
  if (holder === null) return null;
  const name = holder.applicationName;
  if (name === connector.applicationName) {
    await sql.query('select pg_terminate_backend($1, 1000)', [holder.pid]);
    return null;
  }
  const shown = `${name ?? 'a session of another user'} (pid ${String(holder.pid)})`;
  if (name !== null && !name.startsWith(applicationNamePrefix(pipeline))) throw slotInUse(slot, shown);
  return shown;
}

function slotInUse(slot: string, holder: string): Error {
  return postgresError(
    'PG_SLOT_IN_USE',
    `The replication slot ${slot} is being read by ${holder}.`,
    "Stop that program, or give this pipeline a slot of its own: postgres({ slot: '…' }).",
  );
}
