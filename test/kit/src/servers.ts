import { startPostgres, startRedis, type PostgresServer, type RedisServer } from '@strandline/servers';

declare module 'vitest' {
  /** What the global set-up hands to every test file; the fixtures take it from there. */
  interface ProvidedContext {
    /** Superuser's connection string of the run's Postgres. */
    postgresUrl: string;
    /** Connection string of the run's Redis. */
    redisUrl: string;
  }
}

/** The servers that all tests of a run share. A test that stops or kills one starts its own instead. */
export interface TestServers extends AsyncDisposable {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
}

/** Starts both at once; when one fails, the other does not stay behind. */
export async function startTestServers(): Promise<TestServers> {
  const [postgres, redis] = await Promise.allSettled([startPostgres(), startRedis()]);
  if (postgres.status === 'fulfilled' && redis.status === 'fulfilled') {
    return {
      postgres: postgres.value,
      redis: redis.value,
      async [Symbol.asyncDispose]() {
        await Promise.all([postgres.value[Symbol.asyncDispose](), redis.value[Symbol.asyncDispose]()]);
      },
    };
  }
  const outcomes = [postgres, redis];
  for (const outcome of outcomes)
    if (outcome.status === 'fulfilled') await outcome.value[Symbol.asyncDispose]();
  const failures = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
  );
  if (failures.length === 1) throw failures[0];
  throw new AggregateError(failures, failures.map(String).join('\n\n'));
}

/** What the global set-up provided, with a word on what is missing where it did not run. */
export async function providedUrl(key: 'postgresUrl' | 'redisUrl'): Promise<string> {
  // Imported here, so that the kit also loads outside a test run.
  const { inject } = await import('vitest');
  const url = inject(key) as string | undefined;
  if (url !== undefined) return url;
  throw new Error(
    `No ${key} was provided. Add @strandline/test-kit/global-setup to globalSetup in the vitest config.`,
  );
}
