import { createHmac, createPrivateKey, sign, type KeyObject } from 'node:crypto';

/** What signs a message: the identifier of its scheme, and how. */
export interface Signer {
  /** `v1`: HMAC-SHA256. `v1a`: Ed25519. */
  readonly scheme: 'v1' | 'v1a';
  /** Bytes of the secret. */
  readonly length: number;
  /** Base64. */
  sign(content: Uint8Array): string;
}

/** What Standard Webhooks asks of a symmetric secret at least, in bytes. */
export const SHORTEST_SECRET = 24;

const SYMMETRIC = 'whsec_';
const ASYMMETRIC = 'whsk_';
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** PKCS #8 of an Ed25519 key, up to its seed (RFC 8410). */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SEED = 32;

/**
 * A secret as Standard Webhooks writes it: `whsec_` and base64 of 24 to 64 bytes, or `whsk_` and base64 of an Ed25519 key
 * (the seed, or the seed and the public key, as libsodium has it). Null when the text is neither.
 */
export function signerOf(secret: string): Signer | null {
  if (secret.startsWith(SYMMETRIC)) {
    const key = bytesOf(secret.slice(SYMMETRIC.length));
    return key === null ? null : hmacSigner(key);
  }
  if (secret.startsWith(ASYMMETRIC)) {
    const key = bytesOf(secret.slice(ASYMMETRIC.length));
    return key?.length === SEED || key?.length === 2 * SEED ? ed25519Signer(key) : null;
  }
  return null;
}

function hmacSigner(key: Buffer): Signer {
  return {
    scheme: 'v1',
    length: key.length,
    sign: (content) => createHmac('sha256', key).update(content).digest('base64'),
  };
}

function ed25519Signer(key: Buffer): Signer {
  const seed = key.subarray(0, SEED);
  const privateKey: KeyObject = createPrivateKey({
    key: Buffer.concat([PKCS8_ED25519, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  return {
    scheme: 'v1a',
    length: key.length,
    sign: (content) => sign(null, content, privateKey).toString('base64'),
  };
}

function bytesOf(base64: string): Buffer | null {
  if (!BASE64.test(base64)) return null;
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length === 0 ? null : bytes;
}
