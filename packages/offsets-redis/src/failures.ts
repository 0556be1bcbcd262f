import type { Endpoint } from './endpoint.js';
import { OffsetsError, type OffsetsErrorCode } from './errors.js';

interface Rule {
  /** In scripts and in old servers the word is not always the first. */
  readonly says: RegExp;
  readonly code: OffsetsErrorCode;
  readonly problem: (store: string) => string;
  readonly remedy: string;
}

export const goesOn = 'A running pipeline tries again by itself; nothing is lost meanwhile.';

/** What Redis answers and what it means here. The first rule that fits counts. */
const rules: readonly Rule[] = [
  {
    says: /\bWRONGPASS\b|invalid password/i,
    code: 'OFFSETS_AUTH',
    problem: (store) => `${store} refused the user name or password.`,
    remedy: 'Correct the credentials in `url` or `connection`.',
  },
  {
    says: /\bNOAUTH\b/,
    code: 'OFFSETS_AUTH',
    problem: (store) => `${store} asks for a password, and none was given.`,
    remedy: 'Put it in `url` (redis://:password@host:port) or in `connection.password`.',
  },
  {
    says: /\bNOPERM\b/,
    code: 'OFFSETS_AUTH',
    problem: (store) => `The user at ${store} lacks a permission that the offset store needs.`,
    remedy:
      'Grant it: ACL SETUSER <user> ~<keyPrefix>:* +eval +evalsha +type +time +hgetall +hmget +hset +hsetnx +hdel +pexpireat +wait +info +@connection.',
  },
  {
    says: /^DENIED\b/,
    code: 'OFFSETS_AUTH',
    problem: (store) => `${store} runs in protected mode and takes no connection from another machine.`,
    remedy: 'Set a password on the server and use it here.',
  },
  {
    says: /\b(READONLY|MASTERDOWN)\b/,
    code: 'OFFSETS_READONLY',
    problem: (store) =>
      `${store} is a read-only replica: it was demoted, or the address is not the primary's.`,
    remedy: `Point the store at the primary or at the sentinels. ${goesOn}`,
  },
  {
    says: /\bWRONGTYPE\b/,
    code: 'OFFSETS_CORRUPT',
    problem: (store) => `A key of the offset store at ${store} is not a hash.`,
    remedy: 'Something else uses this key: choose another keyPrefix, or remove the key.',
  },
  {
    says: /\bOOM\b/,
    code: 'OFFSETS_UNAVAILABLE',
    problem: (store) => `${store} is out of memory (maxmemory) and takes no writes.`,
    remedy: `Give it more memory, and a policy that never evicts offsets (noeviction). ${goesOn}`,
  },
  {
    says: /\bMISCONF\b/,
    code: 'OFFSETS_UNAVAILABLE',
    problem: (store) => `${store} can't save to its disk and takes no writes.`,
    remedy: `Look in its log: most often the disk is full or not writable. ${goesOn}`,
  },
  {
    says: /\bLOADING\b/,
    code: 'OFFSETS_UNAVAILABLE',
    problem: (store) => `${store} is still loading its data.`,
    remedy: goesOn,
  },
  {
    says: /\b(CLUSTERDOWN|NOREPLICAS|TRYAGAIN)\b/,
    code: 'OFFSETS_UNAVAILABLE',
    problem: (store) => `${store} has no node, primary or replica that it needs for this.`,
    remedy: `Look at the state of the cluster or of the replication. ${goesOn}`,
  },
  {
    says: /\bBUSY\b/,
    code: 'OFFSETS_UNAVAILABLE',
    problem: (store) => `${store} is held up by somebody's long script.`,
    remedy: `SCRIPT KILL ends it. ${goesOn}`,
  },
  {
    says: /max number of clients/,
    code: 'OFFSETS_UNAVAILABLE',
    problem: (store) => `${store} has no connection left (maxclients).`,
    remedy: `Raise maxclients, or find who holds so many. ${goesOn}`,
  },
  {
    says: /^(MOVED|ASK) \d/,
    code: 'OFFSETS_CONFIG',
    problem: (store) => `${store} is a node of a Redis Cluster.`,
    remedy: 'Use the option `cluster` instead of naming one node.',
  },
  {
    says: /cluster support disabled/,
    code: 'OFFSETS_CONFIG',
    problem: (store) => `${store} is no Redis Cluster.`,
    remedy: 'Use `url` or `connection` instead of `cluster`.',
  },
  {
    says: /DB index is out of range|invalid DB index|SELECT is not allowed/i,
    code: 'OFFSETS_CONFIG',
    problem: (store) => `${store} has no such database.`,
    remedy:
      "Use a database that exists: the server's setting `databases` says how many there are, and a cluster has only 0.",
  },
];

/**
 * Says what a failure of ioredis means. `lastTrouble` is what the connection said of itself before: where a
 * command fails with no more than "connection is closed", that is the cause.
 */
export function explain(failure: unknown, endpoint: Endpoint, lastTrouble?: Error): OffsetsError {
  if (failure instanceof OffsetsError) return failure;
  const cause = isSequel(failure) ? (lastTrouble ?? failure) : failure;
  if (cause instanceof OffsetsError) return cause;
  const said = isSequel(cause) ? 'the connection was lost' : textOf(cause);
  const rule = rules.find(({ says }) => says.test(said));
  const details = { cause: withoutSecrets(cause, endpoint) };
  if (rule !== undefined)
    return new OffsetsError(rule.code, rule.problem(endpoint.name), rule.remedy, details);
  return new OffsetsError(
    'OFFSETS_UNAVAILABLE',
    `${endpoint.name} can't be used: ${scrub(said, endpoint)}.`,
    `Check that Redis runs there, that this machine may connect, and that TLS is set as the server has it. ${goesOn}`,
    details,
  );
}

/** True of errors that only say that the connection went away, not why. */
function isSequel(failure: unknown): boolean {
  return /^(Connection is closed|Stream isn't writeable|Reached the max retries|Cluster isn't ready|None of startup)/.test(
    textOf(failure),
  );
}

/** What an error says, without credentials. */
export function reasonOf(error: unknown, endpoint: Endpoint): string {
  return scrub(textOf(error), endpoint);
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const last = (error as { lastNodeError?: unknown }).lastNodeError; // of a cluster: why the last node failed
  if (last instanceof Error) return textOf(last);
  if (error instanceof AggregateError && error.message === '') return error.errors.map(textOf).join(', ');
  return error.message.replace(/\.$/, ''); // it becomes part of a sentence
}

/**
 * A copy fit for logs. The errors of ioredis carry the command with its arguments: of a failed login that is
 * the password.
 */
function withoutSecrets(error: unknown, endpoint: Endpoint): Error {
  const copy = new Error(reasonOf(error, endpoint));
  if (!(error instanceof Error)) return copy;
  copy.name = error.name;
  copy.stack = scrub(error.stack ?? '', endpoint);
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? Object.assign(copy, { code }) : copy;
}

function scrub(text: string, { secrets }: Endpoint): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, '***'), text);
}
