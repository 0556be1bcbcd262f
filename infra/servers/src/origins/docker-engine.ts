import { request } from 'node:http';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { reasonOf } from '../errors.js';

/** An engine that is there answers in a few milliseconds; one that isn't must not hold up every test run. */
const answerDeadlineMs = 1_000;

/** Throws, with the reason, when no Docker engine answers. */
export async function requireDockerEngine(): Promise<void> {
  const refusals: string[] = [];
  for (const address of engineAddresses()) {
    try {
      await ping(new URL(address));
      return;
    } catch (error) {
      refusals.push(`${address} (${reasonOf(error)})`);
    }
  }
  throw new Error(`no Docker engine answers at ${refusals.join(', ')}`);
}

function engineAddresses(): string[] {
  const configured = process.env['DOCKER_HOST'];
  if (configured !== undefined && configured !== '') return [configured];
  const runtime = process.env['XDG_RUNTIME_DIR'];
  const sockets = [
    '/var/run/docker.sock',
    ...(runtime === undefined ? [] : [path.join(runtime, 'docker.sock')]),
    path.join(homedir(), '.docker', 'run', 'docker.sock'),
    path.join(homedir(), '.docker', 'desktop', 'docker.sock'),
  ];
  return sockets.map((socket) => `unix://${socket}`);
}

function ping(address: URL): Promise<void> {
  if (address.protocol === 'unix:') return pingSocket(address.pathname);
  if (address.protocol === 'tcp:') return reachPort(address.hostname, Number(address.port || 2375));
  return Promise.reject(new Error('only unix:// and tcp:// are tried'));
}

function pingSocket(socketPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const ask = request({ socketPath, path: '/_ping', timeout: answerDeadlineMs }, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) resolve();
      else reject(new Error(`answered ${String(answer.statusCode)}`));
    });
    ask.on('timeout', () => ask.destroy(new Error('no answer')));
    ask.on('error', reject);
    ask.end();
  });
}

/** TLS may be spoken there, so an open port has to do; testcontainers does the rest. */
function reachPort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: answerDeadlineMs });
    socket.on('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.on('timeout', () => socket.destroy(new Error('no answer')));
    socket.on('error', reject);
  });
}
