import { createHmac } from 'node:crypto';
import type { Logger } from '@strandline/core';

/**
 * How keys come into log lines: as they are, as a hash, or not at all. A hash tells which lines are about one key, and
 * whoever has a key can find its lines; keys that can be guessed, such as small numbers, need a secret of your own for
 * it, the same in all processes.
 */
export type LogKeys = 'plain' | 'hashed' | 'none' | { readonly secret: string };

/** Digits of a hash: of a million keys, two share one in one of 37 million cases. */
const DIGITS = 16;

/** The first 16 hexadecimal digits of HMAC-SHA-256. The pipeline's name is the secret where there is no other. */
export function hashedKey(key: string, secret: string): string {
  return createHmac('sha256', secret).update(key).digest('hex').slice(0, DIGITS);
}

/** Records within records that are looked into; what lies deeper is left out, and circles end. */
const DEEPEST = 6;

/** What takes a key's place in a line. */
type Disguise = (key: string) => string;

/** The pipeline's logger. Its lines, those of its source and those of `ctx.log` have keys as they are asked for. */
export function logOf(log: Logger, keys: LogKeys, pipeline: string): Logger {
  const named = log.child({ pipeline });
  if (keys === 'plain') return named;
  if (keys === 'none') return new DisguisingLog(named, () => '(left out)', []);
  const secret = keys === 'hashed' ? pipeline : keys.secret;
  return new DisguisingLog(named, (key) => hashedKey(key, secret), []);
}

/**
 * Disguises the fields `key` and `keys`, and what texts of errors say of those keys. A logger of one key (`ctx.log`)
 * looks for it in every line.
 */
class DisguisingLog implements Logger {
  readonly #log: Logger;
  readonly #disguise: Disguise;
  /** The keys that it is about. */
  readonly #keys: readonly string[];

  constructor(log: Logger, disguise: Disguise, keys: readonly string[]) {
    this.#log = log;
    this.#disguise = disguise;
    this.#keys = keys;
  }

  debug(fields: object, message: string): void {
    this.#log.debug(...this.#line(fields, message));
  }

  info(fields: object, message: string): void {
    this.#log.info(...this.#line(fields, message));
  }

  warn(fields: object, message: string): void {
    this.#log.warn(...this.#line(fields, message));
  }

  error(fields: object, message: string): void {
    this.#log.error(...this.#line(fields, message));
  }

  child(fields: Record<string, unknown>): Logger {
    const named = this.#log.child(this.#fieldsOf(fields, this.#keys));
    return new DisguisingLog(named, this.#disguise, [...this.#keys, ...keysIn(fields)]);
  }

  /** Also what is not written according to the interface, such as a text alone, is passed on. */
  #line(fields: object, message: string): [object, string] {
    const keys = [...this.#keys, ...keysIn(fields)];
    return [
      typeof fields === 'object' ? this.#fieldsOf(fields, this.#keys) : this.#text(fields, keys),
      typeof message === 'string' ? this.#text(message, keys) : message,
    ] as [object, string];
  }

  /** @param about the keys that the line is about, beside those that these fields name */
  #fieldsOf(fields: object, about: readonly string[], depth = 0): Record<string, unknown> {
    const keys = [...about, ...keysIn(fields)];
    return Object.fromEntries(
      Object.entries(fields).map(([name, value]: [string, unknown]) => [
        name,
        this.#field(name, value, keys, depth),
      ]),
    );
  }

  #field(name: string, value: unknown, keys: readonly string[], depth: number): unknown {
    if (name === 'key' && typeof value === 'string') return this.#disguise(value);
    if (name === 'keys' && Array.isArray(value))
      return value.map((key: unknown) => (typeof key === 'string' ? this.#disguise(key) : key));
    return this.#value(value, keys, depth);
  }

  /** Texts, and those inside of plain records and of errors that are logged as they are. */
  #value(value: unknown, keys: readonly string[], depth: number): unknown {
    if (typeof value === 'string') return this.#text(value, keys);
    if (typeof value !== 'object' || value === null) return value;
    if (depth === DEEPEST) return '(left out)';
    if (value instanceof Error) return this.#fieldsOf(errorParts(value), keys, depth + 1);
    if (Array.isArray(value)) return value.map((each: unknown) => this.#value(each, keys, depth + 1));
    return isRecord(value) ? this.#fieldsOf(value, keys, depth + 1) : value;
  }

  #text(text: unknown, keys: readonly string[]): unknown {
    if (typeof text !== 'string') return text;
    return keys.reduce((rest, key) => rest.replace(occurrences(key), this.#disguise(key)), text);
  }
}

function keysIn(fields: unknown): string[] {
  if (!isRecord(fields)) return [];
  const { key, keys } = fields;
  const all: unknown[] = [key, ...(Array.isArray(keys) ? (keys as unknown[]) : [])];
  return all.filter((one): one is string => typeof one === 'string' && one !== '');
}

/** A number is found where no other digit touches it: 7 is not meant by 17 ms. */
function occurrences(key: string): RegExp {
  const literal = key.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return /^\d+$/.test(key) ? new RegExp(`(?<!\\d)${literal}(?!\\d)`, 'g') : new RegExp(literal, 'g');
}

function errorParts({ name, message, stack, cause }: Error): Record<string, unknown> {
  return { type: name, message, stack, ...(cause === undefined ? {} : { cause }) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
