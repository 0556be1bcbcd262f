/** A file of the console, as it is sent. */
export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Its name says what is in it: whoever has it need never ask again. */
  readonly immutable: boolean;
}

/** The console: its files by their path, `/` among them. */
export type Page = ReadonlyMap<string, PageFile>;

/**
 * What a browser lets the page do: load what this server has, and ask this server. Nothing inline, no frame around it, no text
 * that becomes markup: a key or a payload with a script in it stays text whatever the page does wrong.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Sent with every file of the page. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // A key is in the page's address, after its `#`.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
