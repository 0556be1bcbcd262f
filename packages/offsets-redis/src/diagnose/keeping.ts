import { fail, pass, warn, type Check, type Verdict } from '@strandline/core';
import type { RedisFacts } from './facts.js';

const SURVIVES =
  'The offset must be there after a restart: Postgres can stand in for a lost one, MySQL can not.';

type Info = ReadonlyMap<string, string>;

/** A check of what INFO tells; where that is not allowed, `redis-info` says so. */
export function ofInfo(
  judge: (info: Info, facts: RedisFacts) => Verdict | null,
): (facts: RedisFacts) => Verdict | null {
  return (facts) => (facts.info === null ? null : judge(facts.info, facts));
}

/** Whether an offset that was saved stays. */
export const KEEPING_CHECKS: readonly Check<RedisFacts>[] = [
  {
    check: 'redis-info',
    why: SURVIVES,
    judge: ({ info, user }: RedisFacts): Verdict | null =>
      info === null
        ? warn(
            'INFO is not allowed: nothing of the server can be told',
            `redis-cli ACL SETUSER ${user ?? '<user>'} +info`,
          )
        : pass('INFO answers'),
  },
  {
    check: 'redis-eviction',
    why: 'A server that is short of memory must not throw an offset away.',
    judge: ofInfo(eviction),
  },
  { check: 'redis-persistence', why: SURVIVES, judge: ofInfo(persistence) },
  {
    check: 'redis-memory',
    why: 'A server whose memory is full refuses to save: the pipeline goes on up to its window, and pauses.',
    judge: ofInfo((info) => {
      const limit = Number(info.get('maxmemory') ?? 0);
      if (limit === 0) return pass('no maxmemory');
      const used = Number(info.get('used_memory') ?? 0);
      const found = `${info.get('used_memory_human') ?? '?'} of ${info.get('maxmemory_human') ?? '?'} in use`;
      return used < limit * FULL
        ? pass(found)
        : warn(
            found,
            `redis-cli CONFIG SET maxmemory ${String(limit * 2)} && redis-cli CONFIG REWRITE; or a larger node`,
          );
    }),
  },
];

/** Of maxmemory: what comes above it in a burst is not ours to foresee. */
const FULL = 0.9;

function eviction(info: Info): Verdict {
  const policy = info.get('maxmemory_policy') ?? '?';
  const limited = info.get('maxmemory') !== '0';
  // An offset has no expiry: the volatile policies leave it alone.
  const safe = policy === 'noeviction' || policy.startsWith('volatile-');
  const limit = limited ? `maxmemory ${info.get('maxmemory_human') ?? '?'}` : 'no maxmemory';
  const found = `maxmemory-policy ${policy}, ${limit}`;
  if (safe) return pass(found);
  const remedy = 'redis-cli CONFIG SET maxmemory-policy noeviction && redis-cli CONFIG REWRITE';
  return limited ? fail(found, remedy) : warn(found, remedy);
}

function persistence(info: Info, { settings }: RedisFacts): Verdict {
  const broken = ['aof_last_write_status', 'rdb_last_bgsave_status'].filter(
    (name) => info.get(name) === 'err',
  );
  if (broken.length > 0) {
    return fail(
      `${broken.join(' and ')}: err, it can not write to its disk`,
      'Free or repair the disk of the server; its log says more.',
    );
  }
  const remedy =
    'redis-cli CONFIG SET appendonly yes && redis-cli CONFIG SET appendfsync everysec && redis-cli CONFIG REWRITE';
  if (info.get('aof_enabled') === '1') {
    const fsync = settings?.get('appendfsync');
    const found = `appendonly yes${fsync === undefined ? '' : `, appendfsync ${fsync}`}`;
    return fsync === 'no' ? warn(found, remedy) : pass(found);
  }
  if (settings === null) {
    return warn(
      'appendonly no; whether snapshots are saved could not be asked: CONFIG is not allowed',
      'Switch the append-only file on, in the settings of the server.',
    );
  }
  const save = settings.get('save') ?? '';
  return save === ''
    ? fail('appendonly no, save "": nothing is written to disk', remedy)
    : warn(`appendonly no, save "${save}": a crash goes back to the last snapshot`, remedy);
}
