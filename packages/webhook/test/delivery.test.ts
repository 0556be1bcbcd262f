import { PermanentError } from '@strandline/core';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it } from 'vitest';
import { waitUntil } from '@strandline/test-kit';
import { webhook, WebhookError, type WebhookHandler, type WebhookOptions } from '../src/index.js';
import { context, event, failureOf, SECRET } from './fixtures.js';
import { TestReceiver, type Reaction } from './test-receiver.js';

const made: WebhookHandler[] = [];

function hook(options: Partial<WebhookOptions> & Pick<WebhookOptions, 'url'>): WebhookHandler {
  const handler = webhook({ secret: SECRET, ...options });
  made.push(handler);
  return handler;
}

afterEach(async () => {
  await Promise.all(made.splice(0).map((handler) => handler.close()));
});

const answering =
  (status: number, headers: Record<string, string> = {}): Reaction =>
  (_, response) =>
    response.writeHead(status, headers).end();

describe('a request', () => {
  it('is one POST, signed, with its key, its attempt and the headers that were asked for', async () => {
    await using receiver = await TestReceiver.listen();
    const headers = { Authorization: 'Bearer t' };
    const handle = hook({ url: receiver.url('/hook?tenant=1'), headers });
    await handle(event(), context({ attempt: 3, replay: true }));
    const [request, ...more] = receiver.received;
    expect(more).toEqual([]);
    expect(request?.path).toBe('/hook?tenant=1');
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer t',
      'content-type': 'application/json',
      'idempotency-key': 'shop/public.outbox/42',
      'strandline-attempt': '3',
      'strandline-replay': 'true',
      'user-agent': 'strandline',
    });
    const verified = new Webhook(SECRET).verify(
      request?.body ?? '',
      request?.headers as Record<string, string>,
    );
    expect(verified).toMatchObject({ id: '42', key: 'order-1', data: { cents: 1 } });
  });

  it('is the same at the next attempt but for its time, and is signed anew', async () => {
    await using receiver = await TestReceiver.listen();
    const handle = hook({ url: receiver.url() });
    for (const attempt of [1, 2]) {
      await waitUntil('another second has begun', () => {
        const last = Number(receiver.received.at(-1)?.headers['webhook-timestamp'] ?? 0);
        return Math.floor(Date.now() / 1_000) > last;
      });
      await handle(event(), context({ attempt }));
    }
    const [first, second] = receiver.received;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp']);
    expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
  });

  it('goes where the rule says, and nowhere else', async () => {
    await using receiver = await TestReceiver.listen();
    const handle = hook({
      url: ({ key }) => receiver.url(`/${key}`, key === 'b' ? 'localhost' : '127.0.0.1'),
      origins: [receiver.url('').replace(/\/$/, '')],
    });
    await handle(event({ key: 'a' }), context());
    expect(receiver.received.map(({ path }) => path)).toEqual(['/a']);
    const failure = await failureOf(handle(event({ key: 'b' }), context()));
    expect(failure).toBeInstanceOf(PermanentError);
    expect(failure.code).toBe('WEBHOOK_URL');
  });

  it.each(['', 'ftp://example.com', 'http://user:pass@example.com/', undefined as unknown as string])(
    'goes nowhere when the rule gives %j',
    async (text) => {
      const failure = await failureOf(hook({ url: () => text })(event(), context()));
      expect(failure).toBeInstanceOf(PermanentError);
      expect(failure.code).toBe('WEBHOOK_URL');
      expect(failure.message).not.toContain('pass');
    },
  );

  it('uses the connection of the one before, also when the answer says much or is none of the good ones', async () => {
    await using receiver = await TestReceiver.listen();
    const handle = hook({ url: receiver.url() });
    const reactions: Reaction[] = [
      answering(204),
      (_, response) => response.writeHead(200).end('x'.repeat(32_000)),
      (_, response) => response.writeHead(500).end('x'.repeat(32_000)),
      answering(429),
    ];
    for (const react of reactions) {
      receiver.react = react;
      await handle(event(), context()).catch(() => undefined);
    }
    expect(receiver.received.map(({ connection }) => connection)).toEqual([0, 0, 0, 0]);
  });

  it('does not read without end: what a receiver goes on to say does not undo its answer', async () => {
    await using receiver = await TestReceiver.listen();
    const handle = hook({ url: receiver.url() });
    receiver.react = (_, response) => {
      response.writeHead(200);
      const more = (): void => {
        if (response.destroyed) return;
        response.write('x'.repeat(16_384));
        setImmediate(more);
      };
      more();
    };
    await handle(event(), context());
    await waitUntil('the connection is closed', () => receiver.ended === 1);
  });
});

describe('an answer', () => {
  it.each<[number, string, boolean]>([
    [500, 'WEBHOOK_STATUS', false],
    [429, 'WEBHOOK_STATUS', false],
    [400, 'WEBHOOK_STATUS', true],
    [410, 'WEBHOOK_STATUS', true],
    [302, 'WEBHOOK_REDIRECT', true],
  ])('%i is %s, and no retry can help: %s', async (status, code, permanent) => {
    await using receiver = await TestReceiver.listen();
    receiver.react = answering(status, { location: receiver.url('/elsewhere') });
    const failure = await failureOf(hook({ url: receiver.url() })(event(), context()));
    expect(failure.code).toBe(code);
    expect(failure instanceof PermanentError).toBe(permanent);
    expect(failure.message).toContain(String(status));
    expect(receiver.received).toHaveLength(1);
  });

  it('with Retry-After holds the next attempt back', async () => {
    await using receiver = await TestReceiver.listen();
    receiver.react = answering(503, { 'retry-after': '7' });
    const ctx = context();
    await failureOf(hook({ url: receiver.url() })(event(), ctx));
    const limited = context();
    await failureOf(hook({ url: receiver.url(), maxRetryAfter: 1_000 })(event(), limited));
    expect([ctx.waits, limited.waits]).toEqual([[7_000], [1_000]]);
  });

  it('is judged by the rule that was given', async () => {
    await using receiver = await TestReceiver.listen();
    receiver.react = answering(404);
    const later = await failureOf(hook({ url: receiver.url(), permanent: [422] })(event(), context()));
    expect(later).toBeInstanceOf(WebhookError);
    receiver.react = answering(503);
    const never = hook({ url: receiver.url(), permanent: (status) => status === 503 });
    expect(await failureOf(never(event(), context()))).toBeInstanceOf(PermanentError);
  });

  it('that sends everything back leaves nothing of it in an error', async () => {
    await using receiver = await TestReceiver.listen();
    const payloadText = '{"card":"4111111111111111"}';
    receiver.react = ({ body, headers }, response) =>
      response
        .writeHead(400, { 'x-echo': encodeURIComponent(body) })
        .end(`${body} ${JSON.stringify(headers)}`);
    const url = receiver.url('/hook?token=t0ken');
    const handle = hook({ url, headers: { authorization: 'Bearer s3cret' } });
    const failure = await failureOf(handle(event({ payloadText }), context()));
    const said = JSON.stringify([failure, failure.message, failure.stack, failure.cause ?? null]);
    expect(said).toContain(`127.0.0.1:${String(receiver.port)} has`);
    for (const secret of ['4111', 's3cret', 't0ken', SECRET.slice(6, 20)]) expect(said).not.toContain(secret);
  });
});

describe('without an answer', () => {
  it('a time-out ends the request: its connection is closed before the next attempt can begin', async () => {
    await using receiver = await TestReceiver.listen();
    receiver.react = () => undefined;
    const handle = hook({ url: receiver.url(), timeout: 100 });
    const failure = await failureOf(handle(event(), context()));
    expect(failure).toMatchObject({ name: 'WebhookError', code: 'WEBHOOK_TIMEOUT' });
    await waitUntil('the receiver sees it end', () => receiver.ended === 1);
    receiver.react = answering(204);
    await handle(event(), context({ attempt: 2 }));
    expect(receiver.received.map(({ connection }) => connection)).toEqual([0, 1]);
  });

  it('the signal ends it too, and its reason is the error', async () => {
    await using receiver = await TestReceiver.listen();
    const ending = new AbortController();
    const reason = new Error('the pipeline stops');
    receiver.react = () => {
      ending.abort(reason);
    };
    const handle = hook({ url: receiver.url() });
    expect(await failureOf(handle(event(), context({ signal: ending.signal })))).toBe(reason);
    await waitUntil('the receiver sees it end', () => receiver.ended === 1);
    expect(await failureOf(handle(event(), context({ signal: ending.signal })))).toBe(reason);
    expect(receiver.received).toHaveLength(1);
  });

  it('also while it waits for a connection, and then nothing of it is sent', async () => {
    await using receiver = await TestReceiver.listen();
    const ending = new AbortController();
    let release: () => unknown = () => undefined;
    receiver.react = (_, response) => {
      release = () => response.writeHead(204).end();
    };
    const handle = hook({ url: receiver.url(), connections: 1 });
    const first = handle(event({ id: '1' }), context());
    const queued = failureOf(handle(event({ id: '2' }), context({ signal: ending.signal })));
    await waitUntil('the first has come', () => receiver.received.length === 1);
    ending.abort(new Error('given up'));
    expect((await queued).message).toBe('given up');
    receiver.react = answering(204);
    release();
    await first;
    await handle(event({ id: '3' }), context());
    const ids = receiver.received.map(({ body }) => (JSON.parse(body) as { id: string }).id);
    expect(ids).toEqual(['1', '3']);
    expect(receiver.connections, 'the connection is kept').toBe(1);
  });

  it('a request that waits for a connection is not timed out for the one before it', async () => {
    await using receiver = await TestReceiver.listen();
    receiver.react = (_, response) => setTimeout(() => response.writeHead(204).end(), 200);
    const handle = hook({ url: receiver.url(), connections: 1, timeout: 1_000 });
    const all = Array.from({ length: 8 }, (_, id) => handle(event({ id: String(id) }), context()));
    await expect(Promise.all(all)).resolves.toHaveLength(8);
  });

  it.each<[string, Reaction]>([
    ['the connection is cut', (_, response) => response.socket?.destroy()],
    ['what comes is no HTTP', (_, response) => response.socket?.end('card 4111\r\n\r\n')],
    [
      'it wants another protocol',
      (_, response) =>
        response.socket?.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ],
  ])('when %s it can come right by itself', async (_, react) => {
    await using receiver = await TestReceiver.listen();
    receiver.react = react;
    const failure = await failureOf(hook({ url: receiver.url() })(event(), context()));
    expect(failure).toMatchObject({ name: 'WebhookError', code: 'WEBHOOK_CONNECT', key: 'order-1' });
    expect(failure.cause).toBeUndefined();
    expect(failure.message).not.toContain('4111');
  });

  it('when nobody listens, or the name is not known, it can come right by itself', async () => {
    const receiver = await TestReceiver.listen();
    const url = receiver.url();
    await receiver[Symbol.asyncDispose]();
    for (const gone of [url, 'http://hooks.invalid/']) {
      const failure = await failureOf(hook({ url: gone })(event(), context()));
      expect(failure).toMatchObject({ name: 'WebhookError', code: 'WEBHOOK_CONNECT' });
    }
  });
});

describe('close', () => {
  it('ends the connections, once and again, and a later event opens one anew', async () => {
    await using receiver = await TestReceiver.listen();
    const handle = hook({ url: receiver.url() });
    await handle.close();
    await handle(event(), context());
    await handle.close();
    await handle.close();
    await waitUntil('the connection is closed', () => receiver.ended === 1);
    await handle(event(), context());
    expect(receiver.connections).toBe(2);
  });

  it('leaves a request alone that another pipeline has under way', async () => {
    await using receiver = await TestReceiver.listen();
    let release: () => unknown = () => undefined;
    receiver.react = (_, response) => {
      release = () => response.writeHead(204).end();
    };
    const handle = hook({ url: receiver.url() });
    const underWay = handle(event(), context());
    await waitUntil('it has come', () => receiver.received.length === 1);
    const closed = handle.close();
    release();
    await underWay;
    await closed;
    await waitUntil('the connection is closed', () => receiver.ended === 1);
  });
});
