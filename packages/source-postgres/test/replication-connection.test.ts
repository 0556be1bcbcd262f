import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Connector } from '../src/connection.js';
import { ReplicationConnection, type ReplicationListener } from '../src/replication-connection.js';

/** Messages of the server: a letter, the length with itself, the content. */
function message(letter: string, content: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(5);
  head.write(letter, 'latin1');
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

const READY = message('Z', Buffer.from('I'));
/** AuthenticationOk and ReadyForQuery. */
const WELCOME = Buffer.concat([message('R', Buffer.alloc(4)), READY]);
const QUERY_DONE = Buffer.concat([message('C', Buffer.from('SELECT 0\0')), READY]);
/** CopyBothResponse, with no columns: the stream begins. */
const STREAMS = message('W', Buffer.alloc(3));

const OPTIONS = {
  slot: 's',
  publication: 'p',
  messages: false,
  start: 0n,
  confirmed: 0n,
  deadline: 20_000,
};

describe('a replication connection', () => {
  let server: Server;
  let ended: unknown[];
  let connection: ReplicationConnection;

  const connect = (listener: Partial<ReplicationListener> = {}): ReplicationConnection => {
    const { port } = server.address() as AddressInfo;
    const config = { host: '127.0.0.1', port, user: 'u', password: 'p', database: 'd' };
    return new ReplicationConnection({ replicationConfig: config } as Connector, {
      message: () => undefined,
      keepalive: () => undefined,
      ended: (error) => ended.push(error),
      ...listener,
    });
  };

  const accepted = async (): Promise<Socket> => {
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.on('error', () => undefined);
    await once(socket, 'data');
    return socket;
  };

  /** A server that answers the one query before the stream, and begins it. */
  const streaming = async (): Promise<Socket> => {
    const started = connection.start(OPTIONS);
    const socket = await accepted();
    for (const answer of [WELCOME, QUERY_DONE]) {
      socket.write(answer);
      await once(socket, 'data');
    }
    socket.write(STREAMS);
    await started;
    return socket;
  };

  beforeEach(async () => {
    ended = [];
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    connection = connect();
  });
  afterEach(async () => {
    await connection.close();
    server.close();
  });

  it('that failed while it was connecting leaves no session behind, which would hold the slot', async () => {
    const started = connection.start(OPTIONS).then(
      () => null,
      (error: unknown) => error,
    );
    const socket = await accepted();
    const lost = new Error('the other session broke');
    connection.fail(lost);
    socket.write(WELCOME);
    await once(socket.resume(), 'close');
    expect(await started).toBeInstanceOf(Error);
    expect(ended).toEqual([lost]);
  });

  it('hands on what lies behind the head of a message, and where the log ends', async () => {
    const heard: unknown[] = [];
    connection = connect({
      message: (buffer, at) => heard.push(buffer.toString('latin1', at)),
      keepalive: (walEnd) => heard.push(walEnd),
    });
    const socket = await streaming();
    const keepalive = Buffer.concat([Buffer.from('k'), Buffer.alloc(17)]);
    keepalive.writeBigUInt64BE(0xf_0000_0002n, 1);
    const data = Buffer.concat([Buffer.from('w'), Buffer.alloc(24), Buffer.from('pgoutput')]);
    socket.write(Buffer.concat([message('d', data), message('d', keepalive)]));
    await expect.poll(() => heard).toEqual(['pgoutput', 0xf_0000_0002n]);
    expect(ended).toEqual([]);
  });

  it.each([
    ['of an unknown type', Buffer.from('zwhatever')],
    ['a keepalive that is cut', Buffer.from('k\0\0\0')],
    ['nothing at all', Buffer.alloc(0)],
  ])('ends with PG_PROTOCOL at a message of the stream that is %s', async (_, content) => {
    const socket = await streaming();
    socket.write(message('d', content));
    await once(socket.resume(), 'close');
    expect(ended).toEqual([expect.objectContaining({ code: 'PG_PROTOCOL' })]);
  });

  it('has ended when the server ends the stream without an error', async () => {
    const socket = await streaming();
    socket.write(QUERY_DONE);
    await expect.poll(() => ended).toEqual([new Error('Connection terminated by the server')]);
  });
});
