import { randomUUID } from 'node:crypto';
import { invariant, type Logger } from '@strandline/core';
import type pg from 'pg';
import { errorCodeOf } from '../connect-errors.js';
import { postgresError } from '../errors.js';
import { parseLsn, type Lsn } from '../lsn.js';
import { quoteText } from '../quote.js';
import type { SessionSlot } from '../replication-connection.js';
import { createSlotOn } from '../slot.js';
import { historyGone, noHistory } from './history-gone.js';

/** A slot for one session that reads beside the owner of the pipeline's: it goes with that session, however it ends. */
export interface TemporarySlot extends SessionSlot {
  /** Transactions whose commit record starts here or later are in it. Known once it is made. */
  readonly begins: Lsn;
}

/** The longest name that a slot may have. */
const NAME_LIMIT = 63;
const SUFFIX = 8;

function temporaryName(slot: string): string {
  return `${slot.slice(0, NAME_LIMIT - SUFFIX - 2)}_r${randomUUID().slice(0, SUFFIX)}`;
}

export interface CopyOptions {
  readonly slot: string;
  /** What it has to reach back to; null when anything will do. */
  readonly from: { readonly lsn: Lsn; readonly text: string } | null;
  /** Milliseconds that the server may take. */
  readonly deadline: number;
}

/** A copy of the pipeline's slot, which may be read meanwhile. */
export class SlotCopy implements TemporarySlot {
  readonly name: string;
  readonly #options: CopyOptions;
  #begins: Lsn = 0n;

  constructor(options: CopyOptions) {
    this.#options = options;
    this.name = temporaryName(options.slot);
  }

  get begins(): Lsn {
    return this.#begins;
  }

  async make(client: pg.Client): Promise<void> {
    const { slot, from, deadline } = this.#options;
    const text = `select lsn::text as lsn from pg_copy_logical_replication_slot(${quoteText(slot)}, ${quoteText(this.name)}, true)`;
    try {
      const query = { text, query_timeout: deadline } as pg.QueryConfig;
      const { rows } = await client.query<{ lsn: string }>(query);
      const begins = parseLsn(rows[0]?.lsn ?? '');
      invariant(begins !== null, 'the server did not say where the copy of the slot begins');
      this.#begins = begins;
    } catch (error) {
      throw copyError(slot, from?.text ?? 'its beginning', error);
    }
    // The copy tells, and not a look before it: the slot may have moved on in between.
    if (from !== null && this.#begins > from.lsn) throw historyGone(slot, this.#begins, from.text);
  }
}

function copyError(slot: string, from: string, cause: unknown): unknown {
  switch (errorCodeOf(cause)) {
    case '42704':
      return noHistory(slot, from);
    case '53400':
      return slotLimit(`a copy of the replication slot ${slot}`, cause);
    default:
      return cause;
  }
}

/** What commits from now on. The pipeline's slot is not looked at. */
export class FreshSlot implements TemporarySlot {
  readonly name: string;
  readonly #options: { readonly sql: pg.Client; readonly log: Logger; readonly signal: AbortSignal };
  #begins: Lsn = 0n;

  constructor(
    slot: string,
    options: { readonly sql: pg.Client; readonly log: Logger; readonly signal: AbortSignal },
  ) {
    this.#options = options;
    this.name = temporaryName(slot);
  }

  get begins(): Lsn {
    return this.#begins;
  }

  async make(client: pg.Client): Promise<void> {
    const options = 'TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT';
    const { consistentPoint } = await createSlotOn(client, { name: this.name, options, ...this.#options });
    this.#begins = consistentPoint;
  }
}

function slotLimit(what: string, cause: unknown): Error {
  return postgresError(
    'PG_SLOT_LIMIT',
    `There is no room for ${what}: all of max_replication_slots are in use.`,
    'A reader beside the owner needs one more while it reads. Raise max_replication_slots (needs a restart), or drop a slot that nothing reads: select slot_name, active from pg_replication_slots;',
    // Those of other readers go by themselves.
    { cause, transient: true },
  );
}
