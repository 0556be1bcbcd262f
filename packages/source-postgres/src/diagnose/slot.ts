import { answerOf, fail, pass, warn, type Check, type Verdict } from '@strandline/core';
import { parseLsn } from '../lsn.js';
import { parsePosition } from '../position.js';
import type { PostgresFacts, SlotState } from './facts.js';
import { changeSetting } from './service.js';
import { bytesText, LOST } from './texts.js';

/** A slot whose margin is a smaller part of its limit is on its way to be lost. */
const NARROW = 0.25;

/** A check of a slot that is there. */
function ofSlot(
  judge: (slot: SlotState, facts: PostgresFacts) => Verdict | null,
): (facts: PostgresFacts) => Verdict | null {
  return (facts) => {
    const slot = answerOf(facts.slots).ours;
    return slot === null ? null : judge(slot, facts);
  };
}

export const SLOT_CHECKS: readonly Check<PostgresFacts>[] = [
  { check: 'postgres-slot', why: LOST, judge: slotVerdict },
  {
    check: 'postgres-slot-kind',
    why: 'The pipeline reads what pgoutput decodes of its own database, in whole transactions.',
    judge: ofSlot((slot, { slotName, server }) => {
      const problem = kindProblem(slot, server.database);
      return problem === null
        ? pass('logical, pgoutput, of this database')
        : fail(
            `${slotName} ${problem}`,
            `Name another slot in postgres({ slot: '…' }); or, if nothing needs this one: select pg_drop_replication_slot('${slotName}');`,
          );
    }),
  },
  {
    check: 'postgres-slot-reader',
    why: 'A slot has one reader. Another program on it moves it past what this pipeline has not read.',
    judge: ofSlot(({ reader }, { namePrefix, slotName }) => {
      if (reader === null) return pass('nobody reads it now');
      const { pid, name } = reader;
      if (name?.startsWith(namePrefix) === true) return pass(`this pipeline reads it: ${name}`);
      return fail(
        `${name === null || name === '' ? 'a session without a name' : name} (pid ${String(pid)}) reads ${slotName}, and is none of this pipeline`,
        "Stop that program, or give this pipeline a slot of its own: postgres({ slot: '…' }).",
      );
    }),
  },
  {
    check: 'postgres-offset',
    why: 'The pipeline goes on from its offset: the slot must have all that follows.',
    judge: offsetVerdict,
  },
  {
    check: 'postgres-slots-free',
    why: 'The first start makes a slot.',
    judge: ({ slots, server, service }: PostgresFacts): Verdict | null => {
      const { used, ours } = answerOf(slots);
      const all = Number(server.settings.get('max_replication_slots') ?? 0);
      const found = `${String(used)} of ${String(all)} replication slots in use`;
      return ours !== null || used < all
        ? pass(found)
        : fail(found, changeSetting(service, 'max_replication_slots', String(all + 10), true));
    },
  },
  {
    check: 'postgres-senders-free',
    why: 'Each reader of the log takes one, and so does each standby of the server.',
    judge: ({ slots, server, service }: PostgresFacts): Verdict | null => {
      const { senders, ours } = answerOf(slots);
      const all = Number(server.settings.get('max_wal_senders') ?? 0);
      const found = `${String(senders)} of ${String(all)} WAL senders in use`;
      // The pipeline that runs has its own among them, and another one while it makes its slot.
      const needed = (ours?.reader ?? null) === null ? 1 : 0;
      const remedy = changeSetting(service, 'max_wal_senders', String(all + 10), true);
      if (all - senders < needed) return fail(found, remedy);
      return all - senders < needed + 1 ? warn(found, remedy) : pass(found);
    },
  },
  {
    check: 'postgres-slot-failover',
    why: 'A standby that takes over has the slot only when it is a failover slot (PostgreSQL 17). Without it the pipeline stops with PG_SLOT_MISSING.',
    judge: failoverVerdict,
  },
];

function slotVerdict({ slotName: name, slots, config, offset, service, server }: PostgresFacts): Verdict {
  const { ours } = answerOf(slots);
  if (ours === null) {
    if (offset !== null) {
      return fail(
        `there is no slot ${name}, though the pipeline has an offset`,
        'Start the pipeline: it stops with PG_SLOT_MISSING, which says what can be done. Look first for who dropped the slot.',
      );
    }
    return config.create
      ? pass(`there is no slot ${name} yet: the first start makes it`)
      : fail(
          `there is no slot ${name}, and create is off`,
          `select pg_create_logical_replication_slot('${name}', 'pgoutput'); -- after the publication`,
        );
  }
  const { status, safeBytes, retainedBytes, invalidation } = ours;
  const found = [
    `${name}: wal_status ${status}`,
    ...(invalidation === null ? [] : [`invalidated: ${invalidation}`]),
    ...(retainedBytes === null ? [] : [`${bytesText(retainedBytes)} kept`]),
    ...(safeBytes === null ? [] : [`${bytesText(safeBytes)} until it is in danger`]),
  ].join(', ');
  const noLimit = changeSetting(service, 'max_slot_wal_keep_size', '-1');
  if (status === 'lost' || invalidation !== null) {
    return fail(
      found,
      `Start the pipeline: it stops with PG_SLOT_LOST, which says what can be done. And: ${noLimit}`,
    );
  }
  if (status === 'unreserved') return fail(found, `At once: ${noLimit}`);
  const limit = limitBytes(server.settings.get('max_slot_wal_keep_size'));
  const narrow = safeBytes !== null && limit !== null && safeBytes < limit * NARROW;
  return narrow ? warn(found, noLimit) : pass(found);
}

/** The setting is in megabytes; null for none. */
export function limitBytes(setting: string | undefined): number | null {
  const megabytes = Number(setting ?? -1);
  return megabytes < 0 ? null : megabytes * 1_048_576;
}

function kindProblem(
  { type, plugin, database, temporary, twoPhase }: SlotState,
  here: string,
): string | null {
  if (type !== 'logical') return 'is a physical one';
  if (database !== here) return `belongs to the database ${database ?? '?'}`;
  if (plugin !== 'pgoutput') return `decodes with ${plugin ?? '?'} and not with pgoutput`;
  if (temporary) return 'is temporary';
  // It would send transactions when they are prepared, and not again when they commit.
  return twoPhase ? 'was made with two_phase' : null;
}

const FOREIGN =
  'Positions mean nothing there. Correct the connection or the name of the pipeline; to start afresh on purpose, use a new name.';

function offsetVerdict(facts: PostgresFacts): Verdict | null {
  const { offset, slotName, server, replication } = facts;
  if (offset === null) return null;
  const { identity, watermark } = offset;
  const system = 'answer' in replication ? replication.answer.system : identity['system'];
  const here = { source: 'postgres', system, database: server.database, slot: slotName };
  for (const [field, value] of Object.entries(here)) {
    if (identity[field] === value) continue;
    return fail(
      `it belongs to another ${field}: ${String(identity[field])}, and this is ${String(value)}`,
      FOREIGN,
    );
  }
  const publication = answerOf(facts.publication);
  if (
    publication !== null &&
    (identity['publication'] !== publication.oid || identity['membership'] !== publication.membership)
  ) {
    return fail(
      `the publication ${publication.name} was made anew or altered since it was saved`,
      'Start the pipeline: it stops with PG_PUBLICATION_CHANGED, which says what can be done.',
    );
  }
  const slot = answerOf(facts.slots).ours;
  const saved = savedLsn(watermark, identity['snapshotLsn']);
  if (slot === null || saved === null) return null;
  // A pipeline that runs saves and then confirms: the slot was asked later than the store.
  if (slot.reader?.name?.startsWith(facts.namePrefix) === true)
    return pass('the pipeline runs, and moves both');
  if (slot.confirmed > saved) {
    return fail(
      `${slotName} is confirmed ${bytesText(Number(slot.confirmed - saved))} past it: what lies between can't be read any more`,
      'Start the pipeline: it stops with PG_SLOT_ADVANCED, which says what can be done.',
    );
  }
  return pass(`${slotName} reaches ${bytesText(Number(saved - slot.confirmed))} further back`);
}

function savedLsn(watermark: string, snapshotLsn: string | undefined): bigint | null {
  const position = parsePosition(watermark);
  return position.kind === 'log' ? position.lsn : parseLsn(snapshotLsn ?? '');
}

function failoverVerdict({
  slots,
  standbys,
  server,
  service,
  slotName: name,
}: PostgresFacts): Verdict | null {
  // RDS and Azure keep the standby of a highly available server out of sight, and with it what becomes of slots.
  const { count } = answerOf(standbys);
  const { ours } = answerOf(slots);
  if (count === 0 || ours === null) return null;
  const seen = count === 1 ? 'a standby' : `${String(count)} standbys`;
  if (ours.failover === null) {
    return warn(
      `there is ${seen}, and PostgreSQL ${server.versionText} does not bring slots along`,
      'Upgrade to PostgreSQL 17; until then stop writers before a planned failover, and see docs/operating.md for an unplanned one.',
    );
  }
  if (ours.failover) return pass(`there is ${seen}, and ${name} is a failover slot`);
  return warn(
    `there is ${seen}, and ${name} is no failover slot`,
    `With the pipeline stopped, over a replication connection: ALTER_REPLICATION_SLOT ${name} ( FAILOVER true ); and on the standbys: ${changeSetting(service, 'sync_replication_slots', 'on')}`,
  );
}
