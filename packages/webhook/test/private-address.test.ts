import type { lookup, LookupAddress } from 'node:dns';
import { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { describe, expect, it } from 'vitest';
import { PrivateAddressError, publicOnly, refusingPrivateAddresses } from '../src/connector.js';
import { failureOf } from '../src/failures.js';
import { isPrivateAddress } from '../src/private-address.js';

it.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.9.9.9',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.170',
  '192.168.1.1',
  '198.18.0.1',
  '203.0.113.9',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:a9fe:a9fe',
  '::127.0.0.1',
  '0:0:0:0:0:ffff:10.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001::1',
  '2001:db8::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '100::1',
  'localhost',
  '',
  '0x7f.1',
])('%j is refused', (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

it.each([
  '1.1.1.1',
  '93.184.216.34',
  '100.63.255.255',
  '100.128.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '172.15.0.1',
  '172.32.0.1',
  '192.169.0.1',
  '::ffff:1.1.1.1',
  '64:ff9b::1.1.1.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80e::200e',
  '2002:101:101::1',
])('%j is an address of the public internet', (address) => {
  expect(isPrivateAddress(address)).toBe(false);
});

/** A resolver that gives these, one list a look-up. */
function resolver(...answers: string[][]): { resolve: typeof lookup; readonly lookups: number } {
  const counter = { lookups: 0 };
  const resolve = (
    _host: string,
    _options: object,
    callback: (error: null, found: LookupAddress[]) => void,
  ): void => {
    const found = answers[counter.lookups] ?? [];
    counter.lookups += 1;
    callback(
      null,
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return Object.assign(counter, { resolve: resolve as unknown as typeof lookup });
}

function looked(answers: string[][], all: boolean): unknown[] {
  let got: unknown[] = [];
  publicOnly(resolver(...answers).resolve)('hooks.example.com', { all }, (...args) => {
    got = args;
  });
  return got;
}

describe('a look-up', () => {
  it('gives only the public ones of several addresses', () => {
    const found = [['10.0.0.1', '1.1.1.1', '::1', '2606:4700:4700::1111']];
    expect(looked(found, true)).toEqual([
      null,
      [
        { address: '1.1.1.1', family: 4 },
        { address: '2606:4700:4700::1111', family: 6 },
      ],
    ]);
    expect(looked(found, false)).toEqual([null, '1.1.1.1', 4]);
  });

  it('fails when there is none', () => {
    expect(looked([['169.254.169.254']], true)[0]).toBeInstanceOf(PrivateAddressError);
    expect(looked([[]], true)[0]).toBeInstanceOf(PrivateAddressError);
  });

  it('is the only one: a name that has another address the next time is not asked again', () => {
    const changing = resolver(['1.1.1.1'], ['127.0.0.1']);
    publicOnly(changing.resolve)('rebound.example.com', { all: true }, () => undefined);
    expect(changing.lookups).toBe(1);
  });
});

describe('a connection', () => {
  const options = (hostname: string): buildConnector.Options => ({ hostname, protocol: 'http:', port: '80' });

  function connect(
    hostname: string,
    remoteAddress: string | undefined,
  ): Promise<{ error: unknown; tried: boolean }> {
    let tried = false;
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
    const guarded = refusingPrivateAddresses((_, callback) => {
      tried = true;
      callback(null, socket);
    });
    return new Promise((resolve) => {
      guarded(options(hostname), (...[error]) => {
        resolve({ error, tried });
      });
    });
  }

  it('is not tried to a private address that stands in the URL', async () => {
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '169.254.169.254']) {
      const { error, tried } = await connect(address, address);
      expect(error, address).toBeInstanceOf(PrivateAddressError);
      expect(tried, address).toBe(false);
    }
  });

  it('is given up when it has come to a private address all the same', async () => {
    expect((await connect('hooks.example.com', '10.0.0.1')).error).toBeInstanceOf(PrivateAddressError);
    expect((await connect('hooks.example.com', '1.1.1.1')).error).toBeNull();
  });

  it('that has no address any more, since it was reset, is tried again', async () => {
    const { error } = await connect('hooks.example.com', undefined);
    expect(failureOf(error, new URL('https://hooks.example.com/'), 1_000, {})).toMatchObject({
      ...{ name: 'WebhookError', code: 'WEBHOOK_CONNECT', transient: true },
    });
  });
});
