import { setTimeout as sleep } from 'node:timers/promises';
import { OFFSETS_AWAY, type Fault } from './fault.js';

/** Redis is killed, and comes back with what it had, or with nothing. */
export const redisRestart: Fault = {
  name: 'redis-restart',
  victim: 'redis',
  weight: 8,
  excuses: [...OFFSETS_AWAY, 'MYSQL_OFFSET_MISSING'],
  applies: ({ offsets }) => offsets === 'redis',
  async strike({ redis, watch }, random, say) {
    const losesAll = random.chance(0.3);
    const ms = random.between(0, 5_000);
    if (redis === null) return;
    say('Redis is killed');
    await redis.kill();
    await sleep(ms);
    const hasLost = losesAll && (await redis.loseDisk());
    if (hasLost) watch.forgive();
    await redis.start();
    if (hasLost) watch.forgive();
    say(hasLost ? 'it is back, and has nothing' : 'it is back, and has what it had');
  },
};
