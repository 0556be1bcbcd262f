import type { TestProject } from 'vitest/node';
import { startTestServers } from './servers.js';

/** vitest's globalSetup: one Postgres and one Redis for the run. A server that can't be had fails the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = await startTestServers();
  project.provide('postgresUrl', servers.postgres.url);
  project.provide('redisUrl', servers.redis.url);
  return async () => {
    await servers[Symbol.asyncDispose]();
  };
}
