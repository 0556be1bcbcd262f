import { describeConfigIssues, type OutboxEvent } from '@strandline/core';
import { z } from 'zod';
import type { TlsSettings } from './connector.js';
import { configError } from './errors.js';
import { isPermanent } from './outcome.js';
import { signerOf, type Signer } from './secrets.js';
import { tlsSettings, type WebhookTlsOptions } from './tls.js';

export interface CommonWebhookOptions {
  /**
   * Where events are posted to, http or https; or a rule that gives it for each event. Credentials do not belong into it
   * but into `headers`.
   */
  readonly url: string | ((event: OutboxEvent) => string);
  /**
   * What signs: `whsec_` and base64 of 24 to 64 random bytes (HMAC-SHA256), or `whsk_` and base64 of an Ed25519 key. With
   * several there are as many signatures, so that a receiver can change over. `null`: nothing is signed.
   */
  readonly secret: string | readonly string[] | null;
  /** Further headers of every request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Origins such as `https://hooks.example.com`; a rule that gives another one is refused. Default: any. */
  readonly origins?: readonly string[];
  /**
   * True: no connection is made to an address that is not one of the public internet, for receivers that others name.
   * Default false.
   */
  readonly refusePrivateAddresses?: boolean;
  readonly tls?: WebhookTlsOptions;
  /** Connections per origin. Default: as many as there are requests at once, which is the pipeline's `concurrency`. */
  readonly connections?: number;
  /** Milliseconds to be connected, TLS included. Default 10,000. */
  readonly connectTimeout?: number;
  /** Milliseconds from the connection to the answer. Default 30,000. */
  readonly timeout?: number;
  /**
   * The statuses, or a rule for them, after which no retry can help. Default: 4xx but 408, 409, 421, 425 and 429. 2xx and
   * 3xx are not asked about.
   */
  readonly permanent?: readonly number[] | ((status: number) => boolean);
  /** Milliseconds that `Retry-After` can hold a key up for at most. Default 600,000, ten minutes. */
  readonly maxRetryAfter?: number;
}

export interface WebhookOptions extends CommonWebhookOptions {
  /**
   * `envelope` (default): `{ id, idempotencyKey, type, timestamp, key, position, data }` with the payload in `data`,
   * every digit of it. `payload`: the payload's own text or bytes, and the rest in headers `strandline-…`, which are not
   * signed.
   */
  readonly body?: 'envelope' | 'payload';
}

export interface BatchWebhookOptions extends CommonWebhookOptions {
  /** Events of one request, default 100. What the pipeline's `batch` holds more of is posted one after the other. */
  readonly max?: number;
  /** Bytes of one request, default 1 MiB; an event that is larger goes alone. */
  readonly maxBytes?: number;
}

/** Validated, with every default filled in. */
export interface ValidOptions {
  /** Null when a rule gives it. */
  readonly url: URL | null;
  readonly urlOf: (event: OutboxEvent) => string;
  /** Null for any. */
  readonly origins: ReadonlySet<string> | null;
  readonly signers: readonly Signer[];
  readonly body: 'envelope' | 'payload';
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly refusePrivateAddresses: boolean;
  readonly tls: TlsSettings;
  readonly connections: number | null;
  readonly connectTimeout: number;
  readonly timeout: number;
  readonly permanent: (status: number) => boolean;
  readonly maxRetryAfter: number;
  readonly max: number;
  readonly maxBytes: number;
}

/** setTimeout takes no more. */
const LONGEST_TIMEOUT = 2_147_483_647;
const milliseconds = z.number().int().min(1).max(LONGEST_TIMEOUT);
const count = z.number().int().min(1).max(1_000_000);
/** Ours, those that frame a request, and those of a hop. */
const RESERVED =
  /^(webhook-.*|strandline-.*|idempotency-key|traceparent|tracestate|host|content-length|transfer-encoding|connection|keep-alive|upgrade|expect|te|trailer|proxy-.*)$/;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\x20-\x7e]*$/;

const SECRETS =
  'must be whsec_ and base64 of 24 to 64 random bytes (echo "whsec_$(openssl rand -base64 32)"), whsk_ and base64 of an Ed25519 key, a list of those, or null for no signature';

/** @returns why not; null when it fits */
function whyNotUrl(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be an http or https URL';
  return url.username + url.password === '' ? null : 'must hold no credentials: give them in headers';
}

const urlText = z.string().superRefine((text, context) => {
  const reason = whyNotUrl(text);
  if (reason !== null) context.addIssue({ code: 'custom', message: reason });
});

/** Of all headers at once, since a message shows what stands in the field that it names. */
const headers = z.unknown().transform((value, context): Record<string, string> => {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : null;
  const reason =
    entries === null ? 'must be an object' : entries.map(whyNotHeader).find((why) => why !== null);
  if (typeof reason === 'string') context.addIssue({ code: 'custom', message: reason });
  return Object.fromEntries((entries ?? []).map(([name, text]) => [name.toLowerCase(), String(text)]));
});

function whyNotHeader([name, value]: [string, unknown]): string | null {
  if (!HEADER_NAME.test(name)) return 'has a name that no header can have';
  if (RESERVED.test(name.toLowerCase())) return `must leave ${name} to the webhook`;
  if (typeof value === 'string' && HEADER_VALUE.test(value)) return null;
  return `has a value that is not printable ASCII for ${name}; an unset variable of the environment is none`;
}

const secretText = z.string(SECRETS).transform((text, context): Signer => {
  const signer = signerOf(text);
  if (signer !== null) return signer;
  context.addIssue({ code: 'custom', message: SECRETS });
  return z.NEVER;
});

const origin = z.string().refine((text) => whyNotUrl(text) === null && new URL(text).origin === text, {
  error: 'must be an origin such as https://hooks.example.com',
});

const rule = <Rule>(): z.ZodType<Rule, Rule> =>
  z.custom<Rule>((value) => typeof value === 'function', 'must be a function');

const commonFields = {
  url: z.union([urlText, rule<(event: OutboxEvent) => string>()], { error: whyNotUrlOption }),
  secret: z.union([secretText.transform((one) => [one]), z.array(secretText).min(1), z.null()], {
    error: SECRETS,
  }),
  headers: headers.default({}),
  origins: z.array(origin).min(1).optional(),
  refusePrivateAddresses: z.boolean().default(false),
  tls: tlsSettings.default({}),
  connections: count.optional(),
  connectTimeout: milliseconds.min(100).default(10_000),
  timeout: milliseconds.default(30_000),
  permanent: z
    .union([
      z.array(z.number().int().min(400).max(599)).transform(statusIsIn),
      rule<(status: number) => boolean>(),
    ])
    .default(() => isPermanent),
  maxRetryAfter: z.number().int().min(0).max(LONGEST_TIMEOUT).default(600_000),
};

const single = z.strictObject({
  ...commonFields,
  body: z.enum(['envelope', 'payload']).default('envelope'),
});

const batch = z.strictObject({
  ...commonFields,
  max: count.default(100),
  maxBytes: z
    .number()
    .int()
    .min(1)
    .default(1024 * 1024),
});

function whyNotUrlOption({ input }: { input?: unknown }): string {
  return (typeof input === 'string' ? whyNotUrl(input) : null) ?? 'must be an http or https URL, or a rule';
}

function statusIsIn(statuses: readonly number[]): (status: number) => boolean {
  const set = new Set(statuses);
  return (status) => set.has(status);
}

/** @throws WebhookError `WEBHOOK_CONFIG` that names field and rule, and no secret. */
export function validate(options: WebhookOptions): ValidOptions {
  return frozen(options, single, { max: 1, maxBytes: Infinity });
}

/** @throws WebhookError `WEBHOOK_CONFIG` that names field and rule, and no secret. */
export function validateBatch(options: BatchWebhookOptions): ValidOptions {
  return frozen(options, batch, { body: 'envelope' });
}

/** @param rest what the schema of the two does not have */
function frozen(
  options: unknown,
  schema: typeof single | typeof batch,
  rest: Partial<ValidOptions>,
): ValidOptions {
  const parsed = schema.safeParse(options);
  if (!parsed.success) {
    throw configError(describeConfigIssues('webhook', withoutSecrets(options), parsed.error.issues));
  }
  const { url: where, secret, origins, connections, ...same } = parsed.data;
  const url = typeof where === 'string' ? new URL(where) : null;
  const allowed = origins === undefined ? null : new Set(origins);
  if (url !== null && allowed?.has(url.origin) === false) {
    throw configError('webhook.url is not at one of webhook.origins.');
  }
  return Object.freeze({
    ...same,
    ...rest,
    url,
    urlOf: typeof where === 'string' ? () => where : where,
    origins: allowed,
    signers: Object.freeze(secret ?? []),
    connections: connections ?? null,
  }) as ValidOptions;
}

/** A text in the place of an object could be a key or a token; what looks like a URL is not shown. */
function withoutSecrets(options: unknown): unknown {
  if (typeof options !== 'object' || options === null) return options;
  const hidden: Record<string, unknown> = { ...options };
  for (const name of ['headers', 'tls']) if (typeof hidden[name] === 'string') hidden[name] = '://';
  return hidden;
}
