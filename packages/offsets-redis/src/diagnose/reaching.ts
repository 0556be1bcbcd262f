import { CLOCK_WHY, clockVerdict, fail, pass, warn, type Check, type Verdict } from '@strandline/core';
import type { RedisFacts } from './facts.js';
import { ofInfo } from './keeping.js';

/** What the scripts and the documentation are made for. */
const OLDEST_VERSION = 7;

/** Milliseconds. A commit is one round trip, and one follows the other: it should fit into the usual commitInterval. */
const SLOW = 100;

/** Whether the server takes commits, from this user and in time. */
export const REACHING_CHECKS: readonly Check<RedisFacts>[] = [
  {
    check: 'redis-version',
    why: 'The scripts that fence a former owner are made for Redis 7.0 and newer.',
    judge: ofInfo((info) => {
      const found = info.get('redis_version') ?? '?';
      return Number.parseInt(found, 10) >= OLDEST_VERSION
        ? pass(`version ${found}`)
        : fail(`version ${found}`, 'Upgrade the server to Redis 7.0 or newer, or to Valkey.');
    }),
  },
  {
    check: 'redis-role',
    why: 'Only a primary takes commits.',
    judge: ofInfo((info) => {
      if (info.get('role') === 'master') return pass('a primary');
      const primary = `${info.get('master_host') ?? '?'}:${info.get('master_port') ?? '?'}`;
      return fail(
        `a replica of ${primary}: it answers READONLY to every commit`,
        `Name ${primary} in redisOffsets({ url }), or the sentinels in redisOffsets({ connection: { sentinels, name } }).`,
      );
    }),
  },
  {
    check: 'redis-cluster',
    why: 'A cluster that has lost slots refuses writes, and keys of a cluster are found only by who knows all its nodes.',
    judge: ofInfo((info, { cluster, options }) => {
      if (info.get('redis_mode') !== 'cluster') return null;
      if (options.cluster === undefined) {
        return fail(
          'it is a node of a cluster, and the options name a single server',
          'redisOffsets({ cluster: { nodes: [{ host, port }] } })',
        );
      }
      const state = cluster?.get('cluster_state') ?? '?';
      return state === 'ok'
        ? pass('cluster_state ok')
        : fail(`cluster_state ${state}`, 'redis-cli --cluster check <host>:<port>; and --cluster fix');
    }),
  },
  {
    check: 'redis-commands',
    why: 'Offsets, bookmarks and instances are written by scripts.',
    judge: commands,
  },
  {
    check: 'redis-replicas',
    why: 'A failover goes on with what the replica had: a commit that it lacks is lost with the old primary.',
    judge: ofInfo(replicas),
  },
  {
    check: 'redis-latency',
    why: 'A commit is one round trip. The longer it takes, the more events come again after a crash.',
    judge: ({ roundTrip, options: { commandTimeout } }: RedisFacts): Verdict | null => {
      const found = `a round trip takes ${roundTrip.toFixed(1)} ms, commandTimeout ${String(commandTimeout)} ms`;
      return roundTrip <= Math.min(SLOW, commandTimeout / 4)
        ? pass(found)
        : warn(
            found,
            'Run the pipeline nearer to its Redis, or look at the load of the server: redis-cli --latency',
          );
    },
  },
  {
    check: 'redis-clock',
    why: CLOCK_WHY,
    judge: ({ clock, user }: RedisFacts): Verdict | null =>
      clock === null
        ? warn('not known: TIME is not allowed', `redis-cli ACL SETUSER ${user ?? '<user>'} +time`)
        : clockVerdict(clock),
  },
];

function commands({ forbidden, user, options: { keyPrefix } }: RedisFacts): Verdict {
  const name = user ?? '<user>';
  if (forbidden === null) {
    return warn(
      'not known: ACL is not allowed, which tells what a user may do',
      `redis-cli ACL SETUSER ${name} '+acl|whoami' '+acl|dryrun'`,
    );
  }
  if (forbidden.length === 0) return pass(`${name} may run what the store runs`);
  return fail(
    `${name} may not run ${forbidden.join(', ')} on its keys`,
    `redis-cli ACL SETUSER ${name} ${forbidden.map((command) => `+${command}`).join(' ')} '~${keyPrefix}:*'`,
  );
}

function replicas(info: ReadonlyMap<string, string>, { options, settings }: RedisFacts): Verdict {
  const connected = Number(info.get('connected_slaves') ?? 0);
  const needed = Number(settings?.get('min-replicas-to-write') ?? 0);
  const found = `${String(connected)} connected`;
  if (connected < needed) {
    return fail(
      `${found}, and min-replicas-to-write is ${String(needed)}: it refuses to save`,
      'Bring the replicas back, or: redis-cli CONFIG SET min-replicas-to-write 0',
    );
  }
  const wanted = options.replicas?.count ?? 0;
  if (connected < wanted) {
    return fail(
      `${found}, and redisOffsets({ replicas }) waits for ${String(wanted)}: no commit counts`,
      'Bring the replicas back, or ask for fewer in replicas.count.',
    );
  }
  if (wanted > 0) return pass(`${found}, and each commit waits for ${String(wanted)}`);
  if (connected === 0) return pass('none: no failover');
  return warn(
    `${found}, and no commit waits for any`,
    'redisOffsets({ replicas: { count: 1, timeout: 100 } })',
  );
}
