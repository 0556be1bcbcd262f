import { SentinelConnector, type Redis, type RedisOptions } from 'ioredis';

/** The part that matters here; ioredis declares it private. */
type ConnectorClass = new (options: unknown) => { connectToSentinel(...call: readonly unknown[]): Redis };

class WithErrorListeners extends (SentinelConnector as unknown as ConnectorClass) {
  override connectToSentinel(...call: readonly unknown[]): Redis {
    const client = super.connectToSentinel(...call);
    client.on('error', () => undefined); // it tries again by itself
    return client;
  }
}

/**
 * The clients with which ioredis listens to the sentinels for a failover get no error listener, so each sentinel
 * that is down would print to the console, again and again.
 */
export const QuietSentinelConnector = WithErrorListeners as unknown as NonNullable<RedisOptions['Connector']>;
