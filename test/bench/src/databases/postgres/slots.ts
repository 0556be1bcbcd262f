import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

/** A walsender ends a moment after its reader. */
const RELEASE_DEADLINE_MS = 30_000;
const OBJECT_IN_USE = '55006';

/** A second slot at the same place in the log, so that several readers get the same rows. */
export async function copySlot(sql: pg.Client, from: string, to: string): Promise<void> {
  await sql.query('select pg_copy_logical_replication_slot($1, $2)', [from, to]);
}

export async function dropSlot(sql: pg.Client, slot: string): Promise<void> {
  for (const giveUpAt = Date.now() + RELEASE_DEADLINE_MS; ;) {
    try {
      await sql.query('select pg_drop_replication_slot($1)', [slot]);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== OBJECT_IN_USE || Date.now() > giveUpAt) throw error;
      await delay(20);
    }
  }
}
