import { fail, findingsOf, pass, warn, type Check, type Finding } from '@strandline/core';
import { isIP } from 'node:net';
import { isLoopback, isPrivateAddress } from './private-address.js';
import { reach, type Reached } from './reach.js';
import type { ValidOptions } from './options.js';
import { SHORTEST_SECRET } from './secrets.js';

const DAY = 86_400_000;
/** Days. Certificates that renew themselves have more than that left. */
const SOON = 14;

/** One receiver, as it was found. */
interface Receiver {
  readonly url: URL;
  readonly reached: Reached;
  readonly options: ValidOptions;
}

/** Whether receivers can be reached, and how far what is sent can be trusted. Connects, and sends no request. */
export async function diagnose(options: ValidOptions, signal: AbortSignal): Promise<readonly Finding[]> {
  const targets =
    options.url === null ? [...(options.origins ?? [])].map((at) => new URL(at)) : [options.url];
  const receivers = await Promise.all(
    targets.map(async (url) => ({ url, options, reached: await reach(url, options, signal) })),
  );
  return [
    ...receivers.flatMap((receiver) => findingsOf(OF_A_RECEIVER, receiver)),
    ...findingsOf(targets.length === 0 ? [...OF_ANY_RECEIVER, ...OF_THE_SENDER] : OF_THE_SENDER, options),
  ];
}

const OF_A_RECEIVER: readonly Check<Receiver>[] = [
  {
    check: 'webhook-reachable',
    why: 'Events wait, or are parked, while the receiver can not be reached.',
    judge: ({ url, reached: { failure, expiresIn } }) => {
      if (failure !== null) {
        return fail(
          `${url.origin}: ${failure}`,
          'Look whether the receiver is up and can be reached from here, and whether its certificate is trusted.',
        );
      }
      const days = expiresIn === null ? null : Math.max(Math.floor(expiresIn / DAY), 0);
      if (days !== null && days < SOON) {
        return warn(
          `${url.origin}: its certificate expires in ${String(days)} days, and then nothing is delivered`,
          'Renew the certificate of the receiver.',
        );
      }
      const certified = days === null ? '' : `, certificate good for ${String(days)} days`;
      return pass(`${url.origin} takes connections${certified}`);
    },
  },
  {
    check: 'webhook-address',
    why: 'A receiver at an address that is refused gets nothing; one that others name must be refused a private one.',
    judge: ({ url, reached: { addresses }, options: { refusePrivateAddresses } }) => {
      const refused =
        refusePrivateAddresses && addresses.length > 0 && addresses.every((one) => isPrivateAddress(one));
      const shown = addresses.length === 0 ? 'no address' : addresses.join(', ');
      const found = `${url.hostname} is at ${shown}; private addresses are ${refusePrivateAddresses ? 'refused' : 'allowed'}`;
      return refused
        ? fail(found, 'Leave refusePrivateAddresses out, or name a receiver at a public address.')
        : pass(found);
    },
  },
  {
    check: 'webhook-tls',
    why: 'Who listens on the way could read payloads and headers.',
    judge: ({ url, reached: { addresses }, options: { tls } }) => {
      const { origin, host, hostname, protocol } = url;
      if (protocol === 'http:') {
        const literal = hostname.replace(/^\[|\]$/g, '');
        const at = isIP(literal) === 0 ? addresses : [literal];
        return at.length > 0 && at.every(isLoopback)
          ? pass(`${origin} is this host`)
          : warn(`${origin} is not encrypted`, `Name the receiver as https://${host}.`);
      }
      return tls.rejectUnauthorized === false
        ? warn(
            `${origin} is encrypted, and tls.insecure takes any certificate`,
            'Take insecure out, and name who signs the certificate in tls.ca.',
          )
        : pass(`${origin} is encrypted`);
    },
  },
];

const OF_ANY_RECEIVER: readonly Check<ValidOptions>[] = [
  {
    check: 'webhook-address',
    why: 'Who can write what the rule looks at could have events posted to services inside the network.',
    judge: ({ refusePrivateAddresses }) => {
      const rule = 'a rule gives the URL of each event, at any origin; private addresses are';
      return refusePrivateAddresses
        ? pass(`${rule} refused`)
        : warn(
            `${rule} allowed`,
            "webhook({ refusePrivateAddresses: true }), or the receivers in webhook({ origins: ['https://…'] })",
          );
    },
  },
];

const OF_THE_SENDER: readonly Check<ValidOptions>[] = [
  {
    check: 'webhook-secret',
    why: 'By the signature a receiver tells our events from what anybody could post to it.',
    judge: ({ signers }) => {
      const remedy = 'echo "whsec_$(openssl rand -base64 32)", and give it to both sides';
      if (signers.length === 0) return warn('secret is null: nothing is signed', remedy);
      const short = signers.filter(({ length }) => length < SHORTEST_SECRET).length;
      const least = `${String(SHORTEST_SECRET)} bytes`;
      return short === 0
        ? pass(`${String(signers.length)} of at least ${least}`)
        : warn(
            `${String(short)} of ${String(signers.length)} shorter than the ${least} that Standard Webhooks asks for`,
            remedy,
          );
    },
  },
];
