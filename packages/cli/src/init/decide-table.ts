import {
  outboxesAmong,
  outboxTableIn,
  readAsOutbox,
  setupError,
  surest,
  tableNameOf,
  type Candidate,
  type Survey,
  type TableFacts,
  type TableName,
} from '@strandline/setup';
import { cliError } from '../errors.js';
import type { Asker } from './asker.js';
import type { InitOptions } from './options.js';

/** Which table it is: one that is there, as it was read, or one to be made. */
export type ChosenTable =
  | { readonly make: TableName; readonly candidate: null }
  | { readonly make: null; readonly candidate: Candidate };

const SHOWN = 5;

/** Throws `SETUP_TABLE` for one that is not there, and `CLI_INIT_MISSING` when nobody can be asked. */
export async function decideTable(
  survey: Survey,
  options: Pick<InitOptions, 'table' | 'createTable'>,
  asker: Asker | null,
): Promise<ChosenTable> {
  if (options.createTable === true) return { make: outboxTableIn(survey.schema), candidate: null };
  if (options.table !== undefined) return named(survey, options.table);
  const candidates = outboxesAmong(survey.tables);
  if (asker !== null) return ask(survey, candidates, asker);
  const sure = surest(candidates);
  if (sure !== null) return chosen(sure.table);
  throw cliError(
    'CLI_INIT_MISSING',
    candidates.length === 0
      ? `None of the ${String(survey.tableCount)} tables of ${survey.database} looks like an outbox.`
      : `It is not certain which table is the outbox: ${candidates.slice(0, SHOWN).map(shown).join(', ')}.`,
    'Name it with --table, or have one made with --create-table.',
  );
}

function named(survey: Survey, text: string): ChosenTable {
  const { schema, name } = tableNameOf(text, survey.schema);
  const table = survey.tables.find((one) => one.schema === schema && one.name === name);
  if (table !== undefined) return chosen(table);
  const alike = outboxesAmong(survey.tables).slice(0, SHOWN);
  throw setupError(
    'SETUP_TABLE',
    `There is no table ${JSON.stringify(`${schema}.${name}`)}, or this user may not see it.`,
    alike.length === 0
      ? 'Correct --table (names are exact: case counts).'
      : `Correct --table (names are exact: case counts). What looks like an outbox: ${alike.map(shown).join(', ')}.`,
  );
}

async function ask(survey: Survey, candidates: readonly Candidate[], asker: Asker): Promise<ChosenTable> {
  const answer = await asker.choose<Candidate | 'another' | 'make'>('Which table is the outbox?', [
    ...candidates.slice(0, SHOWN).map((candidate) => ({
      value: candidate,
      label: `${candidate.table.schema}.${candidate.table.name}`,
      hint: hintOf(candidate),
    })),
    { value: 'another', label: 'another table', hint: 'by its name' },
    { value: 'make', label: 'there is none yet', hint: 'the statement that makes strandline_outbox' },
  ]);
  if (answer === 'make') return { make: outboxTableIn(survey.schema), candidate: null };
  if (answer !== 'another') return chosen(answer.table);
  const has = (text: string): TableFacts | undefined => {
    const { schema, name } = tableNameOf(text, survey.schema);
    return survey.tables.find((one) => one.schema === schema && one.name === name);
  };
  const text = await asker.text('Its name, or schema.name', {
    check: (text) => (has(text) === undefined ? 'There is no such table: names are exact.' : null),
  });
  return named(survey, text);
}

/** Throws `SETUP_TABLE` for a name that the config can't write. */
function chosen(table: TableFacts): ChosenTable {
  if (table.name.includes('.') || table.schema.includes('.'))
    throw setupError(
      'SETUP_TABLE',
      `The table ${JSON.stringify(table.name)} in ${JSON.stringify(table.schema)} has a dot in its name.`,
      'Rename it: outbox.table tells schema and table apart by the dot.',
    );
  return { make: null, candidate: readAsOutbox(table) };
}

function shown({ table: { schema, name }, score }: Candidate): string {
  return `${schema}.${name} (${String(score)} of 100)`;
}

function hintOf({ table, score, id, key, payload }: Candidate): string {
  const columns = [id?.column, key?.columns.join('+'), payload?.column].filter((name) => name !== undefined);
  const rows = table.rows === null ? '' : `, about ${String(table.rows)} rows`;
  return `${String(score)} of 100: ${columns.join(', ')}${rows}`;
}
