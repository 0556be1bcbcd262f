import type { TestProject } from 'vitest/node';
import setupDownloads from './global-setup-downloads.js';
import { bundlePipelineProcess } from './pipeline-process-bundle.js';
import { pipelineProcessVariable } from './pipeline-process-protocol.js';
import { ServersOnDemand } from './servers-on-demand.js';
import { startTestServers } from './servers.js';

/**
 * vitest's globalSetup: one Postgres and one Redis for the run, and one MySQL and one MariaDB if a test asks for them.
 * A server that can't be had fails the run.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await setupDownloads();
  const bundle = await bundlePipelineProcess();
  process.env[pipelineProcessVariable] = bundle.file;
  const servers = await startTestServers();
  const onDemand = await ServersOnDemand.listen();
  project.provide('postgresUrl', servers.postgres.url);
  project.provide('redisUrl', servers.redis.url);
  project.provide('serversOnDemand', onDemand.address);
  return async () => {
    await Promise.all([servers, onDemand, bundle].map((each) => each[Symbol.asyncDispose]()));
  };
}
