import type { Finding } from '@strandline/core';
import { isIP } from 'node:net';
import { isLoopback, isPrivateAddress } from './private-address.js';
import { reach, type Reached } from './reach.js';
import type { ValidOptions } from './options.js';
import { SHORTEST_SECRET } from './secrets.js';

const DAY = 86_400_000;
/** Days. Certificates that renew themselves have more than that left. */
const SOON = 14;

/** Whether receivers can be reached, and how far what is sent can be trusted. Connects, and sends no request. */
export async function diagnose(options: ValidOptions, signal: AbortSignal): Promise<readonly Finding[]> {
  const targets =
    options.url === null ? [...(options.origins ?? [])].map((at) => new URL(at)) : [options.url];
  const findings = await Promise.all(targets.map((url) => findingsOf(url, options, signal)));
  return [...(targets.length === 0 ? [anyOrigin(options)] : findings.flat()), secrets(options)];
}

async function findingsOf(url: URL, options: ValidOptions, signal: AbortSignal): Promise<Finding[]> {
  const reached = await reach(url, options, signal);
  return [reachable(url, reached), address(url, reached, options), encrypted(url, reached, options)];
}

function anyOrigin({ refusePrivateAddresses }: ValidOptions): Finding {
  return {
    check: 'webhook-address',
    result: refusePrivateAddresses ? 'pass' : 'warn',
    found: `a rule gives the URL of each event, at any origin; private addresses are ${refusePrivateAddresses ? 'refused' : 'allowed'}`,
    why: 'Who can write what the rule looks at could have events posted to services inside the network.',
    remedy: refusePrivateAddresses
      ? null
      : "webhook({ refusePrivateAddresses: true }), or the receivers in webhook({ origins: ['https://…'] })",
  };
}

function reachable(url: URL, reached: Reached): Finding {
  const check = 'webhook-reachable';
  const why = 'Events wait, or are parked, while the receiver can not be reached.';
  if (reached.failure !== null) {
    return {
      check,
      result: 'fail',
      found: `${url.origin}: ${reached.failure}`,
      why,
      remedy:
        'Look whether the receiver is up and can be reached from here, and whether its certificate is trusted.',
    };
  }
  const { expiresIn } = reached;
  if (expiresIn !== null && expiresIn < SOON * DAY) {
    return {
      check,
      result: 'warn',
      found: `${url.origin}: its certificate expires in ${String(Math.max(Math.floor(expiresIn / DAY), 0))} days`,
      why: 'Nothing is delivered once it has expired.',
      remedy: 'Renew the certificate of the receiver.',
    };
  }
  const certified =
    expiresIn === null ? '' : `, certificate good for ${String(Math.floor(expiresIn / DAY))} days`;
  return { check, result: 'pass', found: `${url.origin} takes connections${certified}`, why, remedy: null };
}

function address(url: URL, { addresses }: Reached, { refusePrivateAddresses }: ValidOptions): Finding {
  const usable = addresses.filter((one) => !isPrivateAddress(one));
  const refused = refusePrivateAddresses && addresses.length > 0 && usable.length === 0;
  const shown = addresses.length === 0 ? 'no address' : addresses.join(', ');
  const policy = refusePrivateAddresses ? 'private addresses are refused' : 'private addresses are allowed';
  return {
    check: 'webhook-address',
    result: refused ? 'fail' : 'pass',
    found: `${url.hostname} is at ${shown}; ${policy}`,
    why: 'A receiver at an address that is refused gets nothing; one that others name must be refused a private one.',
    remedy: refused ? 'Leave refusePrivateAddresses out, or name a receiver at a public address.' : null,
  };
}

function encrypted(url: URL, { addresses }: Reached, { tls }: ValidOptions): Finding {
  const check = 'webhook-tls';
  const why = 'Who listens on the way could read payloads and headers.';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const local = (isIP(host) === 0 ? addresses : [host]).every(isLoopback) && addresses.length > 0;
  if (url.protocol === 'http:') {
    return {
      check,
      result: local ? 'pass' : 'warn',
      found: local ? `${url.origin} is this host` : `${url.origin} is not encrypted`,
      why,
      remedy: local ? null : `Name the receiver as https://${url.host}.`,
    };
  }
  const insecure = tls.rejectUnauthorized === false;
  return {
    check,
    result: insecure ? 'warn' : 'pass',
    found: insecure
      ? `${url.origin} is encrypted, and tls.insecure takes any certificate`
      : `${url.origin} is encrypted`,
    why,
    remedy: insecure ? 'Take insecure out, and name who signs the certificate in tls.ca.' : null,
  };
}

function secrets({ signers }: ValidOptions): Finding {
  const check = 'webhook-secret';
  const why = 'By the signature a receiver tells our events from what anybody could post to it.';
  const remedy = 'echo "whsec_$(openssl rand -base64 32)", and give it to both sides';
  if (signers.length === 0)
    return { check, result: 'warn', found: 'secret is null: nothing is signed', why, remedy };
  const short = signers.filter(({ length }) => length < SHORTEST_SECRET).length;
  const found =
    short === 0
      ? `${String(signers.length)} of at least ${String(SHORTEST_SECRET)} bytes`
      : `${String(short)} of ${String(signers.length)} shorter than the ${String(SHORTEST_SECRET)} bytes that Standard Webhooks asks for`;
  return { check, result: short === 0 ? 'pass' : 'warn', found, why, remedy: short === 0 ? null : remedy };
}
