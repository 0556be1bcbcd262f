import type { ErrorDetails } from '@strandline/core';
import { PrivateAddressError } from './connector.js';
import { WebhookError, WebhookRefusedError } from './errors.js';
import { NoAnswerError } from './exchange.js';
import { shownUrl } from './shown-url.js';

/** Of OpenSSL's checks of a certificate, and of Node's. */
const TLS =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|ERR_TLS_|ERR_SSL_|EPROTO|HOSTNAME_MISMATCH|INVALID_|CRL_|PATH_LENGTH)/;

/** What made that no answer came, as an error of ours. The library's own is left out: it may hold what was exchanged. */
export function failureOf(error: unknown, url: URL, timeout: number, details: ErrorDetails): Error {
  const shown = shownUrl(url);
  if (error instanceof PrivateAddressError) {
    return new WebhookRefusedError(
      'WEBHOOK_PRIVATE_ADDRESS',
      `${shown} is at ${error.address}, which is not an address of the public internet.`,
      'Name a public receiver, or leave refusePrivateAddresses out when this one is meant.',
    );
  }
  if (error instanceof NoAnswerError) {
    return new WebhookError(
      'WEBHOOK_TIMEOUT',
      `${shown} has not answered within ${String(timeout)} ms, and the connection was closed.`,
      'A receiver should answer first and work afterwards; or raise timeout.',
      details,
    );
  }
  const code = codeOf(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new WebhookError(
      'WEBHOOK_TIMEOUT',
      `There was no connection to ${shown} in time.`,
      'Look whether the receiver is up and a firewall lets it be reached; or raise connectTimeout.',
      details,
    );
  }
  if (TLS.test(code)) {
    return new WebhookError(
      'WEBHOOK_TLS',
      `There is no trusted connection to ${shown} (${code}).`,
      'Look at the certificate of the receiver; tls.ca names who signs it, tls.cert and tls.key are what it asks of this side.',
      details,
    );
  }
  return new WebhookError(
    'WEBHOOK_CONNECT',
    `The connection to ${shown} failed, or broke before there was an answer (${code}).`,
    'Look whether the receiver is up and can be reached from here.',
    details,
  );
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'no code';
}
