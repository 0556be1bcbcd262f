import type { Fault } from './fault.js';

/** Somebody empties Redis, while an owner lives that writes its offset anew, or while none does. */
export const redisEmptied: Fault = {
  name: 'redis-emptied',
  victim: 'redis',
  weight: 5,
  excuses: ['MYSQL_OFFSET_MISSING'],
  applies: ({ offsets }) => offsets === 'redis',
  async strike({ redis, crew, watch }, random, say) {
    const withoutOwner = random.chance(0.4);
    if (redis === null) return;
    if (withoutOwner) {
      say('SIGKILL to all, and Redis is emptied before anybody is back');
      await Promise.all(crew.alive.map((life) => life.kill()));
    } else {
      say('Redis is emptied');
    }
    watch.forgive();
    await redis.empty();
    watch.forgive();
  },
};
