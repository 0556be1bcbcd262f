export { OffsetsError, type OffsetsErrorCode } from './errors.js';
export type { RedisCluster, RedisConnection, RedisOffsetsOptions } from './options.js';
export { redisOffsets } from './redis-offsets.js';
