import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';
import type { TlsSettings } from './connector.js';

/** Texts in PEM, such as `env('HOOK_CA')` reads them from the file that `HOOK_CA_FILE` names. */
export interface WebhookTlsOptions {
  /** Who may sign the receiver's certificate, instead of those that Node trusts. */
  readonly ca?: string | readonly string[];
  /** This side's own certificate, with those between it and its root, for receivers that ask for one. */
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
  /** Whom the receiver's certificate must be for, when that is not the URL's host. */
  readonly servername?: string;
  /** True: any certificate is taken, so anybody in between can read and answer. Only for trying things out. */
  readonly insecure?: boolean;
}

const pem = z.string().includes('-----BEGIN ');

const fields = z.strictObject({
  ca: z.union([pem, z.array(pem).min(1)]).optional(),
  cert: pem.optional(),
  key: pem.optional(),
  passphrase: z.string().optional(),
  servername: z.string().min(1).optional(),
  insecure: z.boolean().optional(),
});

const RULE =
  'must have ca, cert and key as PEM text, passphrase and servername as text, and insecure as true or false; a file is read by env() with a variable whose name ends in _FILE';

/** One issue for the whole of it, since a message shows what stands in the field that it names. */
export const tlsSettings = z.unknown().transform((value, context): TlsSettings => {
  const parsed = fields.safeParse(value);
  if (!parsed.success) {
    context.addIssue({ code: 'custom', message: RULE });
    return z.NEVER;
  }
  const { insecure, ...given } = parsed.data;
  const settings = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined));
  const reason = whyNotUsable(settings, given);
  if (reason === null) return insecure === true ? { ...settings, rejectUnauthorized: false } : settings;
  context.addIssue({ code: 'custom', message: reason });
  return z.NEVER;
});

function whyNotUsable(
  settings: TlsSettings,
  { cert, key }: { cert?: unknown; key?: unknown },
): string | null {
  if ((cert === undefined) !== (key === undefined)) return 'must have cert and key, or neither';
  try {
    // The context takes any text for an authority, and then trusts nobody.
    for (const text of [settings.ca ?? []].flat()) new X509Certificate(text);
    createSecureContext(settings);
    return null;
  } catch (error) {
    const { code } = error as { code?: unknown };
    return `has certificates or a key that can not be used (${typeof code === 'string' ? code : 'not readable'})`;
  }
}
