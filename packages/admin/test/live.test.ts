import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { connect, type AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import pino from 'pino';
import { expect, test, vi } from 'vitest';
import { LiveStream } from '../src/live/stream.js';

test('a reader who takes nothing is cut off, and one who does goes on', async () => {
  // More than what sockets keep for who does not read.
  const text = 'x'.repeat(8 * 1_024 * 1_024);
  const live = new LiveStream(() => text, pino({ level: 'silent' }), 1_500);
  const app = new Hono().get('/live', (context) => live.answer(context));
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const idle = connect(port, '127.0.0.1').pause();
  const reading = new AbortController();
  try {
    idle.write('GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await vi.waitFor(() => {
      expect(live.readers).toBe(1);
    }, 5_000);
    const { body }: { body: ReadableStream<Uint8Array> | null } = await fetch(
      `http://127.0.0.1:${String(port)}/live`,
      { signal: reading.signal },
    );
    const reader = body?.getReader();
    let taken = 0;
    const following = (async () => {
      for (;;) {
        const part = await reader?.read();
        if (part?.value === undefined) return;
        taken += part.value.length;
      }
    })().catch(() => undefined);
    await vi.waitFor(() => {
      expect(live.readers).toBe(1);
      expect(taken).toBeGreaterThan(2 * text.length);
    }, 20_000);
    reading.abort();
    await following;
  } finally {
    live.stop();
    idle.destroy();
    server.closeAllConnections();
    server.close();
  }
}, 30_000);
