import type { Signer } from './secrets.js';

/**
 * The header `webhook-signature` of Standard Webhooks: one signature for each secret, of `id.timestamp.body`, so that a
 * receiver finds one it can check while secrets are changed. Null without a secret.
 *
 * @param id has no full stop, or contents could be moved between the parts
 * @param timestamp seconds since 1970, of the attempt
 */
export function signatureOf(
  signers: readonly Signer[],
  id: string,
  timestamp: number,
  body: Uint8Array,
): string | null {
  if (signers.length === 0) return null;
  const content = Buffer.concat([Buffer.from(`${id}.${String(timestamp)}.`), body]);
  return signers.map((signer) => `${signer.scheme},${signer.sign(content)}`).join(' ');
}
