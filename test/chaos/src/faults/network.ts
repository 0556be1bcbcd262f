import { setTimeout as sleep } from 'node:timers/promises';
import type { Random, TcpProxy } from '@strandline/test-kit';
import type { Life } from '../life.js';
import type { World } from '../world.js';
import { always, OFFSETS_AWAY, UNREACHABLE, type Fault } from './fault.js';

interface Reach {
  readonly proxies: readonly TcpProxy[];
  readonly lives: readonly Life[];
  readonly says: string;
}

/** Which lines it hits: of the owner or of all, to the database, to Redis, or both. */
function drawReach({ crew, networks }: World, random: Random): Reach {
  const whose = random.weighted({ owner: 7, all: 3 });
  const where = random.weighted({ database: 5, redis: 3, both: 2 });
  const owner = crew.owner();
  const isHit = (seat: number): boolean => whose === 'all' || seat === owner?.seat;
  const hit = networks.filter((_, seat) => isHit(seat));
  const proxies = hit.flatMap(({ database, redis }) =>
    redis === null || where === 'database' ? [database] : where === 'redis' ? [redis] : [database, redis],
  );
  const lives = crew.alive.filter(({ seat }) => isHit(seat));
  return { proxies, lives, says: `of ${whose === 'all' ? 'all' : `run ${String(owner?.run)}`} to ${where}` };
}

/** Connections end at once, and no new ones come through. */
export const networkCut: Fault = {
  name: 'network-cut',
  victim: 'network',
  weight: 6,
  excuses: [...UNREACHABLE, ...OFFSETS_AWAY],
  applies: always,
  async strike(world, random, say) {
    const { proxies, lives, says } = drawReach(world, random);
    const ms = random.between(0, 8_000);
    say(`the network ${says} is cut for ${String(ms)} ms`);
    for (const life of lives) life.cutOff();
    for (const proxy of proxies) proxy.cut();
    await sleep(ms);
    for (const proxy of proxies) proxy.mend();
  },
};

/** Everything arrives late, in both directions. */
export const networkDelay: Fault = {
  name: 'network-delay',
  victim: 'network',
  weight: 6,
  excuses: [],
  applies: always,
  async strike(world, random, say) {
    const { proxies, lives, says } = drawReach(world, random);
    const delay = random.between(5, 300);
    const ms = random.between(1_000, 8_000);
    say(`the network ${says} takes ${String(delay)} ms, for ${String(ms)} ms`);
    for (const life of lives) life.cutOff(); // it may be too slow for the server
    for (const proxy of proxies) proxy.delay(delay);
    await sleep(ms);
    for (const proxy of proxies) proxy.delay(0);
  },
};

/** Connections stay open, and nothing comes through any more; for new ones neither, for a while. */
export const networkHalfOpen: Fault = {
  name: 'network-half-open',
  victim: 'network',
  weight: 6,
  excuses: [...UNREACHABLE, ...OFFSETS_AWAY],
  applies: always,
  async strike(world, random, say) {
    const { proxies, lives, says } = drawReach(world, random);
    const newOnesToo = random.chance(0.5);
    const ms = random.between(0, 8_000);
    for (const life of lives) life.cutOff();
    say(`the network ${says} goes dead${newOnesToo ? `, for new connections for ${String(ms)} ms` : ''}`);
    for (const proxy of proxies) {
      if (newOnesToo) proxy.freezeNewOnes();
      proxy.freeze();
    }
    await sleep(ms);
    for (const proxy of proxies) proxy.thaw();
  },
};
