import {
  isKeySure,
  isPayloadSure,
  kindOf,
  setupError,
  type Candidate,
  type KeyChoice,
  type Mapping,
} from '@strandline/setup';
import { cliError } from '../errors.js';
import type { Asker } from './asker.js';
import type { InitOptions } from './options.js';

type MappingOptions = Pick<InitOptions, 'id' | 'key' | 'type' | 'payload' | 'headers'>;

export interface DecidedMapping {
  readonly mapping: Mapping;
  readonly key: { readonly why: string; readonly alternatives: readonly KeyChoice[] };
  readonly textPayload: boolean;
}

/** Throws `SETUP_COLUMN` for one that is not there, and `CLI_INIT_MISSING` when nobody can be asked. */
export async function decideMapping(
  candidate: Candidate,
  options: MappingOptions,
  asker: Asker | null,
): Promise<DecidedMapping> {
  const has = (name: string): boolean => candidate.table.columns.some((column) => column.name === name);
  const check = (name: string): string => {
    if (has(name)) return name;
    throw setupError(
      'SETUP_COLUMN',
      `The table ${candidate.table.name} has no column ${JSON.stringify(name)} that the log has.`,
      `It has ${candidate.table.columns.map((column) => column.name).join(', ')} (names are exact: case counts).`,
    );
  };
  const ask = async (what: string, flag: string): Promise<string> => {
    if (asker === null) throw unsure(candidate, what, flag);
    return asker.choose(`Which column is the ${what}?`, columnAnswers(candidate));
  };
  const id = check(options.id ?? candidate.id?.column ?? (await ask('id of the event', '--id')));
  const key = await decideKey(candidate, options.key, asker, check);
  const guessed = isPayloadSure(candidate) ? candidate.payload?.column : undefined;
  const payload = check(options.payload ?? guessed ?? (await ask('payload', '--payload')));
  const type = optional(options.type, candidate.type?.column, check);
  const headers = optional(options.headers, candidate.headers?.column, check);
  return {
    mapping: { id, key: key.columns, type, payload, headers },
    key,
    textPayload: isText(candidate, payload),
  };
}

function optional(
  given: string | undefined,
  guessed: string | undefined,
  check: (name: string) => string,
): string | null {
  if (given !== undefined) return check(given);
  return guessed ?? null;
}

async function decideKey(
  candidate: Candidate,
  given: readonly string[] | undefined,
  asker: Asker | null,
  check: (name: string) => string,
): Promise<KeyChoice & { readonly alternatives: readonly KeyChoice[] }> {
  const { key } = candidate;
  if (given !== undefined) {
    const columns = given.map(check);
    const known = [...(key === null ? [] : [key]), ...(key?.alternatives ?? [])].find(
      (one) => one.columns.join('\0') === columns.join('\0'),
    );
    return {
      columns,
      why: known?.why ?? `Events with the same ${columns.join(' and ')} in order`,
      alternatives: [],
    };
  }
  if (asker === null) {
    if (key !== null && isKeySure(candidate)) return key;
    throw unsure(candidate, 'key, which decides what is in order', '--key');
  }
  const choices = key === null ? [] : [key, ...key.alternatives];
  const answer = await asker.choose<KeyChoice | null>('What must stay in order? Events with the same …', [
    ...choices.map((choice) => ({ value: choice, label: choice.columns.join(' + '), hint: choice.why })),
    { value: null, label: 'something else', hint: 'one column, or several' },
  ]);
  if (answer !== null) return { ...answer, alternatives: choices.filter((choice) => choice !== answer) };
  const has = (name: string): boolean => candidate.table.columns.some((column) => column.name === name);
  const text = await asker.text('The columns of the key, separated by commas', {
    check: (text) =>
      namesIn(text).length > 0 && namesIn(text).every(has) ? null : 'There is no such column.',
  });
  return decideKey(candidate, namesIn(text), asker, check);
}

function namesIn(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function unsure({ table, key }: Candidate, what: string, flag: string): Error {
  const proposals =
    flag === '--key' && key !== null
      ? ` It may be ${[key, ...key.alternatives].map(({ columns }) => columns.join(' + ')).join(', or ')}.`
      : '';
  return cliError(
    'CLI_INIT_MISSING',
    `It is not certain which column of ${table.schema}.${table.name} is the ${what}.${proposals}`,
    `Name it with ${flag}: ${table.columns.map(({ name }) => name).join(', ')}.`,
  );
}

function columnAnswers({ table }: Candidate): { value: string; label: string; hint: string }[] {
  return table.columns.map(({ name, type }) => ({ value: name, label: name, hint: type }));
}

function isText({ table }: Candidate, payload: string): boolean {
  const column = table.columns.find(({ name }) => name === payload);
  return column !== undefined && kindOf(column.type) === 'text';
}
