import { setTimeout as sleep } from 'node:timers/promises';
import {
  databaseKinds,
  PipelineRuns,
  rowsInTurn,
  TcpProxy,
  testOutbox,
  testRedis,
} from '@strandline/test-kit';
import { expect, test } from 'vitest';

const SILENCE = 1_500;
/** Milliseconds between the cut and the stop: before it is noticed, and when it is. */
const moments = [200, SILENCE * 1.5] as const;

/** A process ends by itself when nothing holds it: a socket that waits for a server that is gone would, for ever. */
test.each(databaseKinds.flatMap((kind) => moments.map((after) => [kind, after] as const)))(
  '%s: a pipeline stops in order, and its process ends, %i ms after the network to all its servers went dead',
  { timeout: 120_000 },
  async (kind, after) => {
    await using outbox = await testOutbox(kind);
    await using redis = await testRedis();
    await using toDatabase = await TcpProxy.start(outbox.url);
    await using toRedis = await TcpProxy.start(redis.url);
    const { url } = toDatabase;
    await using runs = await PipelineRuns.prepare(outbox, {
      name: 'cut-off',
      behaviour: { delay: 20 },
      source: { url, silenceTimeout: SILENCE, connectTimeout: 1_000 },
      offsets: {
        kind: 'redis',
        url: toRedis.url,
        keyPrefix: redis.prefix.slice(0, -1),
        commandTimeout: 1_000,
      },
      letters: {
        ...(kind === 'postgres' ? { postgres: { url } } : { mysql: { url } }),
        connectTimeout: 1_000,
        statementTimeout: 2_000,
      },
    });
    const owner = await runs.start();
    await outbox.insert(rowsInTurn(300, 30));
    await runs.history.untilSucceeded(100);
    for (const network of [toDatabase, toRedis]) {
      network.freezeNewOnes();
      network.freeze();
    }
    await sleep(after); // the state of its connections at the stop is what differs
    const exit = await Promise.race([owner.stop(), sleep(45_000, 'it still runs')]);
    expect(exit, owner.log.slice(-500)).toEqual({ code: 0, signal: null });
  },
);
