import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signerOf, type Signer } from '../src/secrets.js';
import { signatureOf } from '../src/signature.js';
import { SECRET } from './fixtures.js';

const body = Buffer.from('{"type":"order.placed","data":{"n":12345678901234567890,"s":"ü€"}}');
const now = Math.floor(Date.now() / 1_000);

function signer(secret: string): Signer {
  const made = signerOf(secret);
  if (made === null) throw new Error('It is no secret.');
  return made;
}

function headers(signature: string | null): Record<string, string> {
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(now),
    'webhook-signature': signature ?? '',
  };
}

describe('a symmetric signature', () => {
  it('is what another implementation makes, and accepts', () => {
    const signature = signatureOf([signer(SECRET)], 'evt_1', now, body);
    const theirs = new Webhook(SECRET);
    expect(signature).toBe(theirs.sign('evt_1', new Date(now * 1_000), body.toString()));
    expect(theirs.verify(body.toString(), headers(signature))).toMatchObject({ type: 'order.placed' });
    expect(() => theirs.verify(`${body.toString()} `, headers(signature))).toThrow();
  });

  it('comes once for each secret, so that a receiver with either accepts it', () => {
    const other = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const signature = signatureOf([signer(SECRET), signer(other)], 'evt_1', now, body);
    expect(signature?.split(' ')).toHaveLength(2);
    for (const secret of [SECRET, other])
      expect(new Webhook(secret).verify(body.toString(), headers(signature))).toBeDefined();
    const third = new Webhook(Buffer.alloc(24, 8).toString('base64'));
    expect(() => third.verify(body.toString(), headers(signature))).toThrow();
  });

  it('is none without a secret', () => {
    expect(signatureOf([], 'evt_1', now, body)).toBeNull();
  });
});

describe('an asymmetric signature', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
  const open = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');

  it.each([
    ['the seed', seed],
    ['the seed and the public key', Buffer.concat([seed, open])],
  ])('of %s is verified with the public key', (_, key) => {
    const made = signer(`whsk_${key.toString('base64')}`);
    const [scheme, signature = ''] = signatureOf([made], 'evt_1', now, body)?.split(',') ?? [];
    expect(scheme).toBe('v1a');
    const content = Buffer.concat([Buffer.from(`evt_1.${String(now)}.`), body]);
    const known = createPublicKey({ key: publicKey.export({ format: 'jwk' }), format: 'jwk' });
    expect(verify(null, content, known, Buffer.from(signature, 'base64'))).toBe(true);
    expect(verify(null, body, known, Buffer.from(signature, 'base64'))).toBe(false);
  });
});

it.each(['', 'secret', 'whsec_', 'whsec_?', 'whsk_AAAA', 'whpk_AAAA', 'WHSEC_AAAA'])(
  '%j is no secret',
  (text) => {
    expect(signerOf(text)).toBeNull();
  },
);
