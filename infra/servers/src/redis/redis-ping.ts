import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';

const deadlineMs = 5_000;

/** Logs in and sends PING. Throws with the server's words when it refuses or is still loading its data. */
export function pingRedis(url: string): Promise<void> {
  const { hostname, port, username, password, protocol } = new URL(url);
  const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
  const credentials = [username, password].map(decodeURIComponent).filter((part) => part !== '');
  const commands = [...(password === '' ? [] : [['AUTH', ...credentials]]), ['PING']];
  return new Promise((resolve, reject) => {
    const socket = protocol === 'rediss:' ? connectTls(address) : connectPlain(address);
    let answer = '';
    const fail = (problem: string): void => void socket.destroy(new Error(problem));
    socket.setTimeout(deadlineMs, () => {
      fail('no answer to PING');
    });
    socket.on('error', reject);
    socket.on('close', () => {
      reject(new Error('the connection was closed'));
    });
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      answer += chunk;
      const refusal = /^-(.*)\r\n/m.exec(answer)?.[1];
      if (refusal !== undefined) {
        fail(refusal);
        return;
      }
      if (!answer.endsWith('+PONG\r\n')) return;
      resolve();
      socket.end();
    });
    socket.write(commands.map(encode).join(''));
  });
}

/** A command in the Redis protocol: an array of strings, each with its length in bytes. */
function encode(words: readonly string[]): string {
  const bulks = words.map((word) => `$${String(Buffer.byteLength(word))}\r\n${word}\r\n`);
  return `*${String(words.length)}\r\n${bulks.join('')}`;
}
