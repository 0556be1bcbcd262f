import type { ClockReading } from '@strandline/core';
import type { Calls } from '../calls.js';
import type { ValidOptions } from '../options.js';

/** What a server tells of itself. Of a cluster, what one of its primaries says. */
export interface RedisFacts {
  readonly options: Pick<ValidOptions, 'cluster' | 'replicas' | 'commandTimeout' | 'keyPrefix'> & {
    readonly sentinels: boolean;
  };
  /** Fields of INFO; null where INFO is not allowed: then nothing of the server can be told. */
  readonly info: ReadonlyMap<string, string> | null;
  /** Settings that only CONFIG shows; null where that is not allowed, as on many managed servers. */
  readonly settings: ReadonlyMap<string, string> | null;
  /** Fields of CLUSTER INFO; null outside of clusters. */
  readonly cluster: ReadonlyMap<string, string> | null;
  readonly clock: ClockReading | null;
  /** Milliseconds: the quickest of a few answers. */
  readonly roundTrip: number;
  readonly user: string | null;
  /** What the user may not do of what the store does; null where the server may not be asked. */
  readonly forbidden: readonly string[] | null;
}

const INFO_PARTS = ['server', 'replication', 'persistence', 'memory'] as const;
const SETTINGS = ['save', 'appendfsync', 'min-replicas-to-write'] as const;
const ROUND_TRIPS = 3;

/** What the store's scripts and reads run. */
function commandsOf(key: string, replicas: boolean): readonly (readonly string[])[] {
  return [
    ['eval', 'return 1', '1', key],
    ['evalsha', '0'.repeat(40), '1', key],
    ['type', key],
    ['hgetall', key],
    ['hmget', key, 'field'],
    ['hset', key, 'field', 'value'],
    ['hsetnx', key, 'field', 'value'],
    ['hdel', key, 'field'],
    ['pexpireat', key, '1'],
    ['time'],
    ...(replicas ? [['wait', '0', '0']] : []),
  ];
}

/** Asks, and changes nothing: commands of the store are only held against the user's permissions (ACL DRYRUN). */
export async function factsOf(calls: Calls, options: ValidOptions): Promise<RedisFacts> {
  const askedAt = Date.now();
  const [time] = await calls.ask([['time']]);
  const answeredAt = Date.now();
  const answers = await calls.ask([
    ...INFO_PARTS.map((part) => ['info', part]),
    ...SETTINGS.map((name) => ['config', 'get', name]),
    ['acl', 'whoami'],
  ]);
  const info = answers.slice(0, INFO_PARTS.length);
  const settings = answers.slice(INFO_PARTS.length, -1);
  const whoami = answers.at(-1);
  const fields = info.some((answer) => answer instanceof Error) ? null : fieldsOf(info);
  const user = typeof whoami === 'string' ? whoami : null;
  return {
    options: { ...options, sentinels: options.connection.sentinels !== undefined },
    info: fields,
    settings: settings.slice(0, 2).some((answer) => answer instanceof Error) ? null : settingsOf(settings),
    cluster: fields?.get('redis_mode') === 'cluster' ? await clusterInfo(calls) : null,
    clock: Array.isArray(time) ? { askedAt, answeredAt, there: millisecondsOf(time) } : null,
    roundTrip: await quickest(calls),
    user,
    forbidden: user === null ? null : await forbidden(calls, user, options.replicas !== undefined),
  };
}

/** TIME: seconds and the microseconds of the current one. */
function millisecondsOf([seconds, microseconds]: readonly unknown[]): number {
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
}

async function clusterInfo(calls: Calls): Promise<ReadonlyMap<string, string> | null> {
  const [answer] = await calls.ask([['cluster', 'info']]);
  return answer instanceof Error ? null : fieldsOf([answer]);
}

async function quickest(calls: Calls): Promise<number> {
  let best = Infinity;
  for (let i = 0; i < ROUND_TRIPS; i += 1) {
    const began = performance.now();
    await calls.ask([['ping']]);
    best = Math.min(best, performance.now() - began);
  }
  return best;
}

async function forbidden(calls: Calls, user: string, replicas: boolean): Promise<readonly string[] | null> {
  const commands = commandsOf(calls.keyOf('doctor', 'offset'), replicas);
  const answers = await calls.ask(commands.map((command) => ['acl', 'dryrun', user, ...command]));
  if (answers.some((answer) => answer instanceof Error)) return null;
  return commands.flatMap(([name = ''], index) => (answers[index] === 'OK' ? [] : [name]));
}

/** Lines of `name:value`. */
function fieldsOf(parts: readonly unknown[]): ReadonlyMap<string, string> {
  const lines = parts.flatMap((part) => (typeof part === 'string' ? part.split('\r\n') : []));
  return new Map(
    lines.flatMap((line) => {
      const colon = line.indexOf(':');
      return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const];
    }),
  );
}

/** Names and values in turn. One that the server does not have is missing. */
function settingsOf(parts: readonly unknown[]): ReadonlyMap<string, string> {
  return new Map(
    parts.flatMap((part) =>
      Array.isArray(part) && part.length === 2 ? [[String(part[0]), String(part[1])] as const] : [],
    ),
  );
}
