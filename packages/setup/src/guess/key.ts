import { best, byName, type Guessed, type Seen } from './guessed.js';
import { KEY, KEY_TYPE, NO_KEY, TENANT } from './vocabulary.js';
import type { Kind } from './words.js';

/** What events are kept in order by. */
export interface KeyChoice {
  readonly columns: readonly string[];
  /** What is in order then, and why this. */
  readonly why: string;
}

export interface KeyGuess extends KeyChoice {
  readonly weight: number;
  /** What else it may be, the likelier first. */
  readonly alternatives: readonly KeyChoice[];
}

const KEY_KINDS: readonly Kind[] = ['text', 'integer', 'uuid', 'number', 'bytes'];

/** A business id by its name alone, such as order_id: sure when it is the only one. */
const FOREIGN = { alone: 78, among: 50 };
/** A key that may be NULL: rows without one are refused unless the pipeline says otherwise. */
const NULLABLE = 8;
const ALTERNATIVES = 4;

/**
 * What decides the order. A key that is too broad costs parallelism, one that is too narrow costs order: so of two that
 * fit, the broader one is taken, and the narrower one is told. Only a tenant makes it narrower by itself, since nothing
 * belongs to two tenants.
 */
export function guessKey(columns: readonly Seen[], id: string | null): KeyGuess | null {
  const others = columns.filter(({ name }) => name !== id);
  const tenant = others.find(({ plain, kind }) => TENANT.includes(plain) && KEY_KINDS.includes(kind));
  const candidates = [...byName(others, KEY, KEY_KINDS), ...foreignKeys(others, tenant)].map((guess) =>
    lessIfNullable(guess, others),
  );
  const chosen = best(candidates);
  if (chosen === null) return null;
  const column = others.find(({ name }) => name === chosen.column);
  const rivals = candidates.filter(({ column }) => column !== chosen.column);
  const alternatives = rivals
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ column }) => ({ columns: [column], why: `events of one ${nounOf(column)} in order` }));
  const kinds = others.find(({ plain }) => isTypeOf(plain, chosen.column));
  const made =
    tenant !== undefined && column !== undefined && tenant.name !== column.name
      ? withTenant(tenant, column)
      : withType(kinds, chosen.column);
  return {
    weight: chosen.weight,
    columns: made.columns,
    why: made.why,
    alternatives: [...made.alternatives, ...alternatives].slice(0, ALTERNATIVES),
  };
}

function foreignKeys(columns: readonly Seen[], tenant: Seen | undefined): Guessed[] {
  const found = columns.filter(
    ({ plain, kind, name }) =>
      KEY_KINDS.includes(kind) &&
      name !== tenant?.name &&
      /.(id|uuid|number|key)$/.test(plain) &&
      !Object.hasOwn(KEY, plain) &&
      !NO_KEY.includes(plain) &&
      !TENANT.includes(plain),
  );
  const weight = found.length === 1 ? FOREIGN.alone : FOREIGN.among;
  return found.map(({ name, column }) => ({ column: name, weight, why: column.type }));
}

function lessIfNullable(guess: Guessed, columns: readonly Seen[]): Guessed {
  const nullable = columns.find(({ name }) => name === guess.column)?.column.nullable === true;
  return nullable ? { ...guess, weight: guess.weight - NULLABLE } : guess;
}

/** The kind of thing that this key names: aggregate_type to aggregate_id; the topic to a plain `key`. */
function isTypeOf(plainName: string, key: string): boolean {
  if (!KEY_TYPE.includes(plainName)) return false;
  const stem = key
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '')
    .replace(/(root)?(id|uuid|identifier|key)$/, '');
  return stem === '' ? ['topic', 'category'].includes(plainName) : plainName.startsWith(stem);
}

interface MadeKey extends KeyChoice {
  readonly alternatives: readonly KeyChoice[];
}

function withTenant(tenant: Seen, { name, kind }: Seen): MadeKey {
  const both = {
    columns: [tenant.name, name],
    why: `the ${nounOf(name)} within its ${nounOf(tenant.name)}: two of them may use the same ${name}, and nothing belongs to both`,
  };
  const alone = { columns: [name], why: `events of one ${nounOf(name)} in order, whoever's it is` };
  const broad = {
    columns: [tenant.name],
    why: `everything of one ${nounOf(tenant.name)} in order, one event at a time`,
  };
  // A key with a NULL in it is none.
  if (kind === 'uuid' || tenant.column.nullable)
    return {
      ...alone,
      why: `events of one ${nounOf(name)} in order${kind === 'uuid' ? ', and a uuid is one of its kind' : ''}`,
      alternatives: [both, broad],
    };
  return { ...both, alternatives: [alone, broad] };
}

function withType(type: Seen | undefined, key: string): MadeKey {
  if (type === undefined)
    return { columns: [key], why: `events of one ${nounOf(key)} in order`, alternatives: [] };
  return {
    columns: [key],
    why: `everything about one ${nounOf(key)} in order, whatever its ${type.name}`,
    alternatives: [
      {
        columns: [type.name, key],
        why: `each ${type.name} by itself: when the same ${key} means different things`,
      },
    ],
  };
}

/** `order` of `order_id`, `orderId` and `OrderId`; the whole name where nothing is left. */
function nounOf(name: string): string {
  const noun = name.replace(/[_-]?(identifier|id|uuid|key|number)$/i, '');
  return (noun === '' ? name : noun)
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase();
}
