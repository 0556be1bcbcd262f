import { BlockList, isIP } from 'node:net';

/**
 * What of the IPv4 addresses is not the public internet's, by IANA's registry of special-purpose addresses: of this
 * host, private, shared by a provider's customers, loopback, link-local (with the metadata services of clouds at
 * 169.254.169.254), of protocols, documentation and benchmarks, multicast, reserved. And one that the registry does not have:
 * Azure's services for a machine, its agent's among them, answer at an address that looks public.
 */
const SPECIAL_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

/** Of IPv6 only 2000::/3 is given out at all; these are in it and not the public internet's. */
const SPECIAL_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
] as const;

const GLOBAL_IPV6 = new BlockList();
GLOBAL_IPV6.addSubnet('2000::', 3, 'ipv6');
const REFUSED = new BlockList();
for (const [network, prefix] of SPECIAL_IPV4) REFUSED.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of SPECIAL_IPV6) REFUSED.addSubnet(network, prefix, 'ipv6');

/** Networks whose addresses have an IPv4 address in them, and the group of sixteen bits with which that begins. */
const EMBEDDING = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6 }, // IPv4-mapped
  { prefix: [0, 0, 0, 0, 0, 0], at: 6 }, // IPv4-compatible; :: and ::1 are 0.0.0.0 and 0.0.0.1 by that
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 }, // NAT64, by which a network without IPv4 reaches the public one
  { prefix: [0x2002], at: 1 }, // 6to4
] as const;

/**
 * Whether an IP address is not one of the public internet. True for what is no IP address at all: whoever asks is about
 * to refuse it.
 */
export function isPrivateAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, ''); // the zone of a link-local one
  const version = isIP(plain);
  if (version === 4) return REFUSED.check(plain, 'ipv4');
  if (version !== 6) return true;
  const groups = groupsOf(plain);
  for (const { prefix, at } of EMBEDDING) {
    if (prefix.every((group, index) => groups[index] === group)) return isPrivateAddress(ipv4Of(groups, at));
  }
  return !GLOBAL_IPV6.check(plain, 'ipv6') || REFUSED.check(plain, 'ipv6');
}

/** Whether it is this host's own. */
export function isLoopback(address: string): boolean {
  return /^(127\.|::1$|::ffff:127\.)/i.test(address);
}

/** The eight groups of an IPv6 address. A URL has the one canonical form, without dotted quads. */
function groupsOf(address: string): number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const numbers = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const first = numbers(head);
  if (tail === undefined) return first;
  const last = numbers(tail);
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}

function ipv4Of(groups: readonly number[], at: number): string {
  const [high = 0, low = 0] = groups.slice(at, at + 2);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}
