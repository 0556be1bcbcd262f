import type { Finding } from '@strandline/core';
import type { Calls } from './calls.js';

/** What the scripts and the documentation are made for. */
const OLDEST_VERSION = 7;

const SURVIVES =
  'The offset must be there after a restart: Postgres can stand in for a lost one, MySQL can not.';

/** What a server tells of itself: fields of INFO, and settings that only CONFIG shows. */
interface Facts {
  readonly info: ReadonlyMap<string, string>;
  /** Null where CONFIG is not allowed, as on many managed servers. */
  readonly settings: ReadonlyMap<string, string> | null;
}

/** How far Redis can be trusted with an offset. Of a cluster, what one of its primaries says. */
export async function diagnose(calls: Calls): Promise<readonly Finding[]> {
  const answers = await calls.ask([
    ['info', 'server'],
    ['info', 'replication'],
    ['info', 'persistence'],
    ['info', 'memory'],
    ['config', 'get', 'save'],
    ['config', 'get', 'appendfsync'],
  ]);
  if (answers.slice(0, 4).some((answer) => answer instanceof Error)) return [unasked];
  const [save, appendfsync] = answers.slice(4);
  const facts: Facts = {
    info: infoOf(answers.slice(0, 4)),
    settings: save instanceof Error || appendfsync instanceof Error ? null : settingsOf([save, appendfsync]),
  };
  return [version(facts), role(facts), eviction(facts), persistence(facts)];
}

const unasked: Finding = {
  check: 'redis-info',
  result: 'warn',
  found: 'INFO is not allowed: nothing of the server can be told',
  why: SURVIVES,
  remedy: 'redis-cli ACL SETUSER <user> +info',
};

function version({ info }: Facts): Finding {
  const found = info.get('redis_version') ?? '?';
  const fits = Number.parseInt(found, 10) >= OLDEST_VERSION;
  return {
    check: 'redis-version',
    result: fits ? 'pass' : 'fail',
    found: `version ${found}`,
    why: 'The scripts that fence a former owner are made for Redis 7.0 and newer.',
    remedy: fits ? null : 'Upgrade the server to Redis 7.0 or newer, or to Valkey.',
  };
}

function role({ info }: Facts): Finding {
  const isPrimary = info.get('role') === 'master';
  const primary = `${info.get('master_host') ?? '?'}:${info.get('master_port') ?? '?'}`;
  return {
    check: 'redis-role',
    result: isPrimary ? 'pass' : 'fail',
    found: isPrimary ? 'a primary' : `a replica of ${primary}: it answers READONLY to every commit`,
    why: 'Only a primary takes commits.',
    remedy: isPrimary
      ? null
      : `Name ${primary} in redisOffsets({ url }), or the sentinels in redisOffsets({ connection: { sentinels, name } }).`,
  };
}

function eviction({ info }: Facts): Finding {
  const policy = info.get('maxmemory_policy') ?? '?';
  const limited = info.get('maxmemory') !== '0';
  // An offset has no expiry: the volatile policies leave it alone.
  const safe = policy === 'noeviction' || policy.startsWith('volatile-');
  const limit = limited ? `maxmemory ${info.get('maxmemory_human') ?? '?'}` : 'no maxmemory';
  return {
    check: 'redis-eviction',
    result: safe ? 'pass' : limited ? 'fail' : 'warn',
    found: `maxmemory-policy ${policy}, ${limit}`,
    why: 'A server that is short of memory must not throw an offset away.',
    remedy: safe ? null : 'redis-cli CONFIG SET maxmemory-policy noeviction && redis-cli CONFIG REWRITE',
  };
}

function persistence({ info, settings }: Facts): Finding {
  const check = 'redis-persistence';
  const why = SURVIVES;
  const broken = ['aof_last_write_status', 'rdb_last_bgsave_status'].filter(
    (name) => info.get(name) === 'err',
  );
  if (broken.length > 0) {
    const found = `${broken.join(' and ')}: err, it can not write to its disk`;
    return {
      check,
      result: 'fail',
      found,
      why,
      remedy: 'Free or repair the disk of the server; its log says more.',
    };
  }
  const remedy =
    'redis-cli CONFIG SET appendonly yes && redis-cli CONFIG SET appendfsync everysec && redis-cli CONFIG REWRITE';
  if (info.get('aof_enabled') === '1') {
    const fsync = settings?.get('appendfsync');
    const found = `appendonly yes${fsync === undefined ? '' : `, appendfsync ${fsync}`}`;
    const lazy = fsync === 'no';
    return { check, result: lazy ? 'warn' : 'pass', found, why, remedy: lazy ? remedy : null };
  }
  if (settings === null) {
    const found = 'appendonly no; whether snapshots are saved could not be asked: CONFIG is not allowed';
    return {
      check,
      result: 'warn',
      found,
      why,
      remedy: 'Switch the append-only file on, in the settings of the server.',
    };
  }
  const save = settings.get('save') ?? '';
  const found =
    save === ''
      ? 'appendonly no, save "": nothing is written to disk'
      : `appendonly no, save "${save}": a crash goes back to the last snapshot`;
  return { check, result: save === '' ? 'fail' : 'warn', found, why, remedy };
}

/** Lines of `name:value`. A part that could not be asked is missing. */
function infoOf(parts: readonly unknown[]): Map<string, string> {
  const lines = parts.flatMap((part) => (typeof part === 'string' ? part.split('\r\n') : []));
  return new Map(
    lines.flatMap((line) => {
      const colon = line.indexOf(':');
      return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const];
    }),
  );
}

/** Names and values in turn. */
function settingsOf(parts: readonly unknown[]): Map<string, string> {
  return new Map(
    parts.flatMap((part) =>
      Array.isArray(part) && part.length === 2 ? [[String(part[0]), String(part[1])] as const] : [],
    ),
  );
}
