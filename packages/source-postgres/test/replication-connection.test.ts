import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import type { Connector } from '../src/connection.js';
import { ReplicationConnection } from '../src/replication-connection.js';

/** AuthenticationOk and ReadyForQuery. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

it('that failed while it was connecting leaves no session behind, which would hold the slot', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const config = { host: '127.0.0.1', port, user: 'u', password: 'p', database: 'd' };
  const ended: unknown[] = [];
  const connection = new ReplicationConnection({ replicationConfig: config } as Connector, {
    message: () => undefined,
    keepalive: () => undefined,
    ended: (error) => ended.push(error),
  });
  try {
    const options = {
      slot: 's',
      publication: 'p',
      messages: false,
      start: 0n,
      confirmed: 0n,
      deadline: 20_000,
    };
    const started = connection.start(options).then(
      () => null,
      (error: unknown) => error,
    );
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.on('error', () => undefined);
    await once(socket, 'data');
    const lost = new Error('the other session broke');
    connection.fail(lost);
    socket.write(WELCOME);
    await once(socket.resume(), 'close');
    expect(await started).toBeInstanceOf(Error);
    expect(ended).toEqual([lost]);
  } finally {
    server.close();
  }
});
