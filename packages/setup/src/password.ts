import { randomBytes } from 'node:crypto';

/** 192 bits, in letters that neither a URL nor a shell nor SQL has to quote; and one of each kind that policies ask for. */
export function newPassword(): string {
  return `${randomBytes(24).toString('base64url')}-aA1`;
}

/** Of a webhook, in the form of Standard Webhooks: 256 bits. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
