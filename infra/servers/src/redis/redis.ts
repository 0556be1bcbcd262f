import { randomBytes } from 'node:crypto';
import { connectionStringIn, firstThatApplies, tryGiven } from '../origins/choose.js';
import { DockerContainer } from '../origins/docker-container.js';
import { ServerHandle, startServer } from '../origins/server-handle.js';
import type { ServerOrigin, ServerProcess } from '../origins/server-process.js';
import { launchLocalRedis } from './redis-local.js';
import { defaultArguments, type RedisOptions } from './redis-options.js';
import { pingRedis } from './redis-ping.js';

export const redisUrlVariable = 'STRANDLINE_TEST_REDIS_URL';

const stopDeadlineMs = 10_000;

/** A running Redis. The same interface wherever it came from. */
export interface RedisServer extends AsyncDisposable {
  /** Connection string with the password. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly origin: ServerOrigin;
  /** Only of a local server. */
  readonly dataDirectory: string | undefined;
  /** SIGKILL; resolves when it is gone. `start` reads what reached the append-only file. */
  kill(): Promise<void>;
  /** An orderly shutdown; data stays. */
  stop(): Promise<void>;
  /** Starts a stopped or killed server on the same port and data; resolves when it answers. */
  start(): Promise<void>;
  /** `stop()`, then `start()`. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers, as in a partition. */
  pause(): Promise<void>;
  /** SIGCONT. */
  resume(): Promise<void>;
}

/**
 * A Redis for tests: the one that `STRANDLINE_TEST_REDIS_URL` names, unless the options ask for a server of their
 * own; else a container where a Docker engine answers; else redis-server from the PATH, else from Debian packages
 * that are unpacked into the project's cache.
 *
 * @throws ServerError `SERVER_UNAVAILABLE` with the reason of each way, `SERVER_START_FAILED` with the log.
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const given = connectionStringIn(redisUrlVariable, options);
  if (given === undefined) return startServer(() => launchRedis(options), options.port !== undefined);
  await tryGiven(redisUrlVariable, given, pingRedis);
  return new RunningRedis(given, undefined);
}

async function launchRedis(options: RedisOptions): Promise<RunningRedis> {
  const password = randomBytes(12).toString('hex');
  const server = await firstThatApplies<ServerProcess>({
    server: 'Redis',
    ways: [
      { origin: 'docker', launch: () => launchDockerRedis(options, password) },
      { origin: 'local', launch: () => launchLocalRedis(options, password) },
    ],
    only: options.origin,
    remedy: `Set ${redisUrlVariable} to a connection string, or start Docker, or install redis-server 7 or newer.`,
  });
  return new RunningRedis(`redis://:${password}@${server.host}:${String(server.port)}`, server);
}

function launchDockerRedis(options: RedisOptions, password: string): Promise<DockerContainer> {
  const login = ['--requirepass', password];
  return DockerContainer.launch({
    image: 'redis:7',
    containerPort: 6379,
    port: options.port,
    upMessage: /Ready to accept connections/,
    command: ['redis-server', ...login, ...defaultArguments, ...(options.args ?? [])],
  });
}

class RunningRedis implements RedisServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly dataDirectory: string | undefined;
  readonly handle: ServerHandle;

  constructor(url: string, process: ServerProcess | undefined) {
    this.url = url;
    this.host = new URL(url).hostname;
    this.port = Number(new URL(url).port || 6379);
    this.dataDirectory = process?.dataDirectory;
    this.handle = new ServerHandle('Redis', process, () => pingRedis(url));
  }

  get origin(): ServerOrigin {
    return this.handle.origin;
  }

  start(): Promise<void> {
    return this.handle.start();
  }

  stop(): Promise<void> {
    return this.handle.stop('SIGTERM', stopDeadlineMs, 'SIGKILL');
  }

  kill(): Promise<void> {
    return this.handle.kill();
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  pause(): Promise<void> {
    return this.handle.signal('SIGSTOP');
  }

  resume(): Promise<void> {
    return this.handle.signal('SIGCONT');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.handle.close();
  }
}
