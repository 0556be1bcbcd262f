import { describe, expect, it } from 'vitest';
import { webhook, webhookBatch } from '../src/index.js';
import { validate, type WebhookOptions } from '../src/options.js';
import { SECRET } from './fixtures.js';

const good = { url: 'https://hooks.example.com/orders?tenant=1', secret: SECRET };

it('fills in the defaults', () => {
  expect(validate(good)).toMatchObject({
    body: 'envelope',
    headers: {},
    origins: null,
    refusePrivateAddresses: false,
    tls: {},
    connections: null,
    connectTimeout: 10_000,
    timeout: 30_000,
    maxRetryAfter: 600_000,
  });
  expect(Object.isFrozen(validate(good))).toBe(true);
});

it.each<[string, Partial<WebhookOptions>]>([
  ['a rule for the URL', { url: () => 'https://hooks.example.com' }],
  ['no secret, on purpose', { secret: null }],
  ['several secrets', { secret: [SECRET, 'whsec_AAAA'] }],
  ['a list of statuses', { permanent: [401, 410] }],
  ['an origin', { origins: ['https://hooks.example.com'] }],
])('takes %s', (_, options) => {
  expect(() => validate({ ...good, ...options })).not.toThrow();
});

describe('refuses, with the field and the rule,', () => {
  it.each<[string, object, string]>([
    ['no URL', { url: undefined }, 'webhook.url is missing: must be an http or https URL'],
    [
      'another scheme',
      { url: 'ftp://example.com' },
      'webhook.url is a value that is not shown: must be an http',
    ],
    ['credentials', { url: 'https://u:s3cret@example.com' }, 'must hold no credentials'],
    ['a secret that was not set', { secret: undefined }, 'webhook.secret is missing: must be whsec_'],
    ['a secret of another form', { secret: 's3cret' }, 'webhook.secret is a value that is not shown'],
    ['one of several', { secret: [SECRET, 's3cret'] }, 'webhook.secret is a value that is not shown'],
    ['no secrets', { secret: [] }, 'webhook.secret'],
    ['headers that are ours', { headers: { 'Webhook-Id': '1' } }, 'must leave Webhook-Id to the webhook'],
    ['headers of a connection', { headers: { 'content-length': '1' } }, 'must leave content-length'],
    [
      'a header of two lines',
      { headers: { a: 's3cret\r\nb: c' } },
      'a value that is not printable ASCII for a',
    ],
    ['a header that was not set', { headers: { authorization: undefined } }, 'for authorization'],
    ['a header by a wrong name', { headers: { 'a b': '' } }, 'a name that no header can have'],
    [
      'headers as a text',
      { headers: 's3cret' },
      'webhook.headers is a value that is not shown: must be an object',
    ],
    ['an origin with a path', { origins: ['https://example.com/a'] }, 'must be an origin such as'],
    [
      'a URL elsewhere',
      { origins: ['https://other.example.com'] },
      'webhook.url is not at one of webhook.origins',
    ],
    ['no time', { timeout: 0 }, 'webhook.timeout is 0'],
    ['a status that is none', { permanent: [200] }, 'webhook.permanent'],
    ['another body', { body: 'xml' }, 'webhook.body is "xml"'],
    ['what it does not know', { retries: 3 }, 'retries'],
    [
      'half of a key pair',
      { tls: { cert: '-----BEGIN CERTIFICATE-----' } },
      'must have cert and key, or neither',
    ],
    ['a path for a certificate', { tls: { ca: '/etc/ca.pem' } }, 'as PEM text'],
    ['a certificate that is none', { tls: { ca: '-----BEGIN CERTIFICATE-----\ns3cret' } }, 'can not be used'],
    ['a password of another type', { tls: { passphrase: 53 } }, 'as PEM text'],
    ['a key as a text', { tls: 's3cret' }, 'webhook.tls is a value that is not shown'],
  ])('%s', (_, options, says) => {
    try {
      webhook({ ...good, ...options });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ name: 'WebhookError', code: 'WEBHOOK_CONFIG', transient: false });
      expect(String(error)).toContain(says);
      expect(String(error)).not.toContain('s3cret');
    }
  });

  it('nothing at all, and what belongs to the other of the two', () => {
    expect(() => webhook(undefined as unknown as WebhookOptions)).toThrow('webhook is missing');
    expect(() => webhook({ ...good, max: 3 } as WebhookOptions)).toThrow('max');
    expect(() => webhookBatch({ ...good, body: 'payload' } as never)).toThrow('body');
  });
});
