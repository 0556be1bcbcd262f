import { isWellFormed } from './text.js';

const LONGEST_PATH = 120;
/** MySQL and MariaDB refuse it in JSON, and so does jsonb. */
const HALF = 'half of a surrogate pair';

/** Where in a value lies what has no JSON, and what it is. It has names of properties, and no values. */
export class NotJson extends Error {
  override readonly name = 'NotJson';

  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(`${path} ${reason}`);
  }
}

/**
 * The JSON of a value, or an error where `JSON.stringify` would leave something out or put something else in its place:
 * undefined, functions, symbols, NaN, holes in arrays, bigints, cycles, halves of surrogate pairs, maps and other objects
 * whose contents are not properties. What has a `toJSON`, such as a Date, is what that returns.
 *
 * @param root what the value is called in the path
 * @throws NotJson
 */
export function exactJson(value: unknown, root: string): string {
  // The objects around the one that is looked at, and the names under which each lies in the one before it.
  const holders: object[] = [];
  const names: string[] = [];

  function look(this: object, name: string, found: unknown): unknown {
    while (holders.length > 0 && holders.at(-1) !== this) {
      holders.pop();
      names.pop();
    }
    const reason =
      reasonAgainst(found) ??
      (holders.includes(found as object) ? 'contains itself' : null) ??
      (isWellFormed(name) ? null : `has a name with ${HALF}`);
    if (reason !== null) throw new NotJson(pathOf([...names, name].with(0, root)), reason);
    if (typeof found === 'object' && found !== null) {
      holders.push(found);
      names.push(name);
    }
    return found;
  }

  try {
    // The first call is for the value itself, under the name ''.
    return JSON.stringify(value, look);
  } catch (error) {
    // A bigint under a patched prototype, a toJSON that throws, a value that is nested too deep.
    if (error instanceof NotJson) throw error;
    throw new NotJson(root, error instanceof RangeError ? 'is nested too deep' : 'can not be made JSON');
  }
}

/** Kinds of objects whose properties are all there is to them. */
const PLAIN = new Set(['[object Object]', '[object Array]']);

function reasonAgainst(value: unknown): string | null {
  switch (typeof value) {
    case 'undefined':
      return 'is undefined';
    case 'function':
    case 'symbol':
      return `is a ${typeof value}`;
    case 'bigint':
      return 'is a bigint, for which JSON has no type';
    case 'number':
      return Number.isFinite(value) ? null : `is ${String(value)}`;
    case 'string':
      return isWellFormed(value) ? null : `has ${HALF}`;
    case 'object': {
      if (value === null) return null;
      const kind = Object.prototype.toString.call(value);
      return PLAIN.has(kind)
        ? null
        : `is of the kind ${kind.slice(8, -1)}, whose contents are not its properties`;
    }
    default:
      return null;
  }
}

function pathOf(names: readonly string[]): string {
  const path = names.join('.');
  return path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}…` : path;
}
