import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PermanentError } from '@strandline/core';
import { webhook, type WebhookHandler, type WebhookOptions } from '../src/index.js';
import { TestAuthority, type TestCertificate } from './certificates.js';
import { context, event, failureOf, log, SECRET } from './fixtures.js';
import { TestReceiver } from './test-receiver.js';

let authority: TestAuthority;
let server: TestCertificate;
let client: TestCertificate;
let expiring: TestCertificate;
const made: WebhookHandler[] = [];

beforeAll(async () => {
  authority = await TestAuthority.create();
  [server, client, expiring] = await Promise.all([
    authority.issue('localhost'),
    authority.issue('client'),
    authority.issue('localhost', 3),
  ]);
});

afterEach(async () => {
  await Promise.all(made.splice(0).map((handler) => handler.close()));
});

function hook(url: string, options: Partial<WebhookOptions> = {}): WebhookHandler {
  const handler = webhook({ url, secret: SECRET, ...options });
  made.push(handler);
  return handler;
}

describe('over TLS', () => {
  it('a receiver is trusted when its certificate is signed by whom ca names, and only then', async () => {
    await using receiver = await TestReceiver.listen(server);
    await hook(receiver.url(), { tls: { ca: authority.cert } })(event(), context());
    expect(receiver.received).toHaveLength(1);

    const untrusted = await failureOf(hook(receiver.url())(event(), context()));
    expect(untrusted).toMatchObject({ name: 'WebhookError', code: 'WEBHOOK_TLS' });
    const byAddress = receiver.url('/', '127.0.0.1');
    const another = await failureOf(hook(byAddress, { tls: { ca: authority.cert } })(event(), context()));
    expect(another).toMatchObject({ code: 'WEBHOOK_TLS' });
    expect(receiver.received).toHaveLength(1);

    await hook(byAddress, { tls: { ca: authority.cert, servername: 'localhost' } })(event(), context());
    await hook(byAddress, { tls: { insecure: true } })(event(), context());
    expect(receiver.received).toHaveLength(3);
  });

  it('a receiver that asks who we are is shown our certificate', async () => {
    await using receiver = await TestReceiver.listen({
      ...server,
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: true,
    });
    const tls = { ca: authority.cert };
    const refused = await failureOf(hook(receiver.url(), { tls })(event(), context()));
    expect(refused).toMatchObject({ name: 'WebhookError' });
    expect(receiver.received).toHaveLength(0);
    await hook(receiver.url(), { tls: { ...tls, ...client } })(event(), context());
    expect(receiver.received).toHaveLength(1);
  });

  it('a receiver that speaks plain HTTP there is none', async () => {
    await using receiver = await TestReceiver.listen();
    const failure = await failureOf(hook(receiver.url().replace('http:', 'https:'))(event(), context()));
    expect(failure).toMatchObject({ code: 'WEBHOOK_TLS' });
  });
});

describe('with refusePrivateAddresses', () => {
  it('nothing reaches this host, by whichever name or number', async () => {
    await using receiver = await TestReceiver.listen();
    for (const host of ['localhost', '127.0.0.1', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433']) {
      const handle = hook(receiver.url('/', host), { refusePrivateAddresses: true });
      const failure = await failureOf(handle(event(), context()));
      expect(failure, host).toBeInstanceOf(PermanentError);
      expect(failure.code, host).toBe('WEBHOOK_PRIVATE_ADDRESS');
    }
    expect(receiver.connections).toBe(0);
  });
});

describe('the doctor', () => {
  async function looked(
    url: WebhookOptions['url'],
    options: Partial<WebhookOptions> = {},
  ): Promise<string[]> {
    const handler = webhook({ url, secret: SECRET, connectTimeout: 2_000, ...options });
    made.push(handler);
    const findings = await handler.diagnose({
      pipeline: 'shop',
      signal: new AbortController().signal,
      log,
    });
    for (const { result, remedy } of findings) expect(remedy === null).toBe(result === 'pass');
    return findings.map(({ check, result }) => `${check} ${result}`);
  }

  const fine = ['webhook-reachable pass', 'webhook-address pass', 'webhook-tls pass', 'webhook-secret pass'];

  it('finds nothing wrong with a receiver of this host, and sends it nothing', async () => {
    await using receiver = await TestReceiver.listen();
    expect(await looked(receiver.url())).toEqual(fine);
    expect(receiver.received).toEqual([]);
  });

  it('looks at the certificate', async () => {
    await using receiver = await TestReceiver.listen(server);
    const tls = { ca: authority.cert };
    expect(await looked(receiver.url(), { tls })).toEqual(fine);
    expect(await looked(receiver.url())).toEqual(['webhook-reachable fail', ...fine.slice(1)]);
    expect(await looked(receiver.url(), { tls: { insecure: true } })).toContain('webhook-tls warn');
    await using soon = await TestReceiver.listen(expiring);
    expect(await looked(soon.url(), { tls })).toContain('webhook-reachable warn');
  });

  it('finds a receiver that is not there', async () => {
    const receiver = await TestReceiver.listen();
    const url = receiver.url();
    await receiver[Symbol.asyncDispose]();
    expect(await looked(url)).toContain('webhook-reachable fail');
    expect(await looked('http://hooks.invalid/')).toEqual([
      'webhook-reachable fail',
      'webhook-address pass',
      'webhook-tls warn',
      'webhook-secret pass',
    ]);
  });

  it('finds an address that is refused', async () => {
    await using receiver = await TestReceiver.listen();
    const found = await looked(receiver.url(), { refusePrivateAddresses: true });
    expect(found.slice(0, 2)).toEqual(['webhook-reachable fail', 'webhook-address fail']);
    expect(receiver.connections).toBe(0);
  });

  it('finds secrets that are none or too short', async () => {
    await using receiver = await TestReceiver.listen();
    expect(await looked(receiver.url(), { secret: null })).toContain('webhook-secret warn');
    expect(await looked(receiver.url(), { secret: [SECRET, 'whsec_AAAA'] })).toContain('webhook-secret warn');
  });

  it('looks at the origins of a rule, and warns of one that may lead anywhere', async () => {
    await using receiver = await TestReceiver.listen();
    const rule = (): string => receiver.url();
    expect(await looked(rule, { origins: [new URL(receiver.url()).origin] })).toEqual(fine);
    expect(await looked(rule)).toEqual(['webhook-address warn', 'webhook-secret pass']);
    expect(await looked(rule, { refusePrivateAddresses: true })).toEqual([
      'webhook-address pass',
      'webhook-secret pass',
    ]);
  });
});
