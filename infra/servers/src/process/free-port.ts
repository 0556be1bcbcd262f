import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';

/**
 * A port on 127.0.0.1 that nobody listens on.
 *
 * It lies below the range from which the kernel takes source ports. A client that reconnects again and again to
 * a stopped server on a port of that range can be given the very same port as its source, and is then connected
 * to itself; the server can't come back until it lets go.
 */
export async function freePort(): Promise<number> {
  const highest = Math.min(await lowestSourcePort(), 32_768) - 1;
  const lowest = 12_000;
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = lowest + Math.floor(Math.random() * Math.max(1, highest - lowest));
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port between ${String(lowest)} and ${String(highest)} on 127.0.0.1.`);
}

async function lowestSourcePort(): Promise<number> {
  try {
    return Number((await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8')).trim().split(/\s+/)[0]);
  } catch {
    return 32_768; // not Linux; macOS and Windows start at 49152
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, '127.0.0.1', () =>
      server.close(() => {
        resolve(true);
      }),
    );
  });
}
