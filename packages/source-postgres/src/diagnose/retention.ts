import { answerOf, pass, warn, type Check, type Verdict } from '@strandline/core';
import type { PostgresFacts } from './facts.js';
import { changeSetting } from './service.js';
import { limitBytes } from './slot.js';
import { bytesText, durationText, LOST } from './texts.js';

/** Seconds. A transaction of an application that is open for longer has been forgotten, or is a batch that should know. */
const LONG = 600;

/** What decides for how long the server keeps its log for the slot, and what makes it keep more. */
export const RETENTION_CHECKS: readonly Check<PostgresFacts>[] = [
  {
    check: 'postgres-slot-limit',
    why: LOST,
    judge: ({ server, service }: PostgresFacts): Verdict | null => {
      const limit = limitBytes(server.settings.get('max_slot_wal_keep_size'));
      if (limit === null)
        return pass(
          'max_slot_wal_keep_size -1: the slot is kept, so watch the disk while the pipeline is away',
        );
      return warn(
        `max_slot_wal_keep_size ${bytesText(limit)}: a pipeline that is further behind loses its slot`,
        changeSetting(service, 'max_slot_wal_keep_size', '-1'),
      );
    },
  },
  {
    check: 'postgres-slot-idle',
    why: LOST,
    judge: idleVerdict,
  },
  {
    check: 'postgres-open-transactions',
    why: 'The server keeps its log from the oldest open transaction on, a slot can be made only when those before it have ended, and events wait for their own to commit.',
    judge: openVerdict,
  },
  {
    check: 'postgres-prepared-transactions',
    why: 'One that nobody decides holds the log and the making of a slot for ever.',
    judge: preparedVerdict,
  },
];

function idleVerdict({ server, service }: PostgresFacts): Verdict {
  // neon.com/docs/guides/logical-replication-neon: unused replication slots.
  if (service === 'neon') {
    return warn(
      'Neon drops a slot that nobody has read for about 40 hours while another one is read',
      'Let no pipeline stand still for longer, and drop the slots of those that are given up: select pg_drop_replication_slot(…);',
    );
  }
  const seconds = Number(server.settings.get('idle_replication_slot_timeout') ?? 0);
  if (seconds === 0) return pass('no time-out for a slot that nobody reads');
  return warn(
    `idle_replication_slot_timeout ${String(seconds)} s: a pipeline that is away for so long loses its slot`,
    changeSetting(service, 'idle_replication_slot_timeout', '0'),
  );
}

function openVerdict({ transactions, slots, server }: PostgresFacts): Verdict {
  const { open } = answerOf(transactions);
  const [oldest] = open.filter(({ age }) => age !== null);
  if (oldest?.age !== undefined && oldest.age !== null && oldest.age > LONG) {
    const waits =
      answerOf(slots).ours === null
        ? 'the first start waits for it to make the slot'
        : 'it holds the log back';
    return warn(
      `process ${String(oldest.pid)} has had a transaction open for ${durationText(oldest.age)}: ${waits}`,
      `select pid, usename, application_name, state, query from pg_stat_activity where pid = ${String(oldest.pid)}; select pg_terminate_backend(${String(oldest.pid)}); -- when it may be given up`,
    );
  }
  if (!server.seesActivity && open.some(({ age }) => age === null)) {
    return warn(
      'not known: other roles have transactions open, and this one may not see since when',
      `grant pg_read_all_stats to ${server.role};`,
    );
  }
  return pass(
    oldest === undefined
      ? 'no transaction is open'
      : `the oldest open one is ${durationText(oldest.age ?? 0)} old`,
  );
}

function preparedVerdict({ transactions }: PostgresFacts): Verdict {
  const [oldest] = answerOf(transactions).prepared;
  if (oldest === undefined) return pass('none');
  const found = `the oldest was prepared ${durationText(oldest.age)} ago`;
  if (oldest.age <= LONG) return pass(found);
  const gid = oldest.gid.replaceAll("'", "''");
  return warn(found, `rollback prepared '${gid}'; -- or: commit prepared '${gid}';`);
}
