import { describeConfigIssues } from '@strandline/core';
import { z } from 'zod';
import { configError } from './errors.js';
import {
  reservedClusterOptions,
  reservedConnectionOptions,
  type RedisCluster,
  type RedisConnection,
  type RedisOffsetsOptions,
  type ValidOptions,
} from './options.js';

const milliseconds = z
  .int({ error: 'must be a whole number of milliseconds' })
  .min(1, { error: 'must be at least 1 ms' })
  .max(600_000, { error: 'must be at most 600000 ms (ten minutes)' });

/** What ioredis checks by itself, if at all, less what it may not be given here. */
function passedOn<T extends object>(reserved: readonly string[]) {
  return z
    .custom<T>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), {
      error: 'must be an object',
    })
    .superRefine((value, context) => {
      for (const name of reserved.filter((option) => option in value)) {
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'is decided by the offset store and can not be set',
        });
      }
    });
}

const schema = z
  .strictObject({
    url: z.string({ error: 'must be a string such as redis://host:6379' }).optional(),
    connection: passedOn<RedisConnection>(reservedConnectionOptions).default({}),
    cluster: z
      .strictObject({
        nodes: z
          .array(z.custom<RedisCluster['nodes'][number]>(), { error: 'must be a list of nodes' })
          .min(1, { error: 'must name at least one node' }),
        options: passedOn<NonNullable<RedisCluster['options']>>(reservedClusterOptions).optional(),
      })
      .optional(),
    keyPrefix: z
      .string({ error: 'must be a string' })
      // Braces would end the hash tag early, or let two pipelines meet in one key.
      .regex(/^[^{}\s]+$/, { error: 'must not be empty, and must hold no braces and no white space' })
      .default('strandline'),
    connectTimeout: milliseconds.default(5_000),
    commandTimeout: milliseconds.default(2_000),
    replicas: z
      .strictObject({
        count: z.int({ error: 'must be a whole number' }).min(1, { error: 'must be at least 1' }),
        timeout: milliseconds, // 0 would wait for ever
      })
      .optional(),
  })
  .superRefine(({ url, connection, cluster, replicas }, context) => {
    const isServer = url !== undefined || connection.host !== undefined || connection.path !== undefined;
    const ways = [isServer, connection.sentinels !== undefined, cluster !== undefined];
    if (ways.filter(Boolean).length !== 1) {
      const message =
        'must say in exactly one way where Redis is: url, connection.host, connection.path, connection.sentinels or cluster.nodes';
      context.addIssue({ code: 'custom', path: [], message });
    }
    if (cluster !== undefined && replicas !== undefined) {
      // WAIT must follow the commit on the same node, which ioredis does not promise once the slot has moved.
      context.addIssue({
        code: 'custom',
        path: ['replicas'],
        message: 'can not be used together with cluster',
      });
    }
  });

/** @throws OffsetsError `OFFSETS_CONFIG` that names the field, the value and the rule; never a credential. */
export function validate(options: RedisOffsetsOptions): ValidOptions {
  const parsed = schema.safeParse(options);
  if (!parsed.success) throw configError(describeConfigIssues('redisOffsets', options, parsed.error.issues));
  const { url, cluster, replicas, ...rest } = parsed.data;
  return Object.freeze({ ...rest, url, replicas, cluster: cluster as RedisCluster | undefined });
}
