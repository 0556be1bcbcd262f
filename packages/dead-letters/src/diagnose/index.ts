import { findingsOf, type Asked, type Finding, type LetterLimits } from '@strandline/core';
import { LettersError } from '../errors.js';
import { SELECTED } from '../letter-rows.js';
import { integerOf } from '../row.js';
import { TABLE_NAMES, type Tables } from '../tables.js';
import { hashOf } from '../text.js';
import type { Transactions } from '../transactions.js';
import { LETTERS_CHECKS, type HeldLetters, type TablesState } from './checks.js';

/** Whether letters can be kept, and how many there are. Asks one question after the other, and changes nothing. */
export async function diagnose(
  transactions: Transactions,
  tables: Tables,
  pipeline: string,
  limits: LetterLimits,
): Promise<readonly Finding[]> {
  const database = await asked(() =>
    tables.dialect.checkDatabase({
      run: async (sql, values = []) => ({ rows: await transactions.rows(sql, values), changed: 0 }),
    }),
  );
  const state = await asked(() => askTables(transactions, tables));
  const isUsable = 'answer' in state && state.answer.kind === 'usable';
  const held = isUsable ? await asked(() => askHeld(transactions, tables, pipeline)) : { answer: null };
  return findingsOf(LETTERS_CHECKS, { limits, database, tables: state, held });
}

/** A database that is away can't be asked anything: that is for the caller to tell, once. */
async function asked<T>(ask: () => Promise<T>): Promise<Asked<T>> {
  try {
    return { answer: await ask() };
  } catch (error) {
    if (!(error instanceof LettersError) || error.code !== 'LETTERS_SCHEMA') throw error;
    return { unasked: problemOf(error), remedy: error.remedy };
  }
}

function problemOf({ message, remedy }: LettersError): string {
  return message.slice(0, message.length - remedy.length).trim();
}

async function askTables(transactions: Transactions, tables: Tables): Promise<TablesState> {
  const { dialect, schema, prefix } = tables;
  for (const name of TABLE_NAMES) {
    const { sql, values } = dialect.findTable(schema, `${prefix}${name}`);
    if ((await transactions.rows(sql, values)).length > 0) continue;
    const may = dialect.mayCreate(schema);
    const [row] = await transactions.rows(may.sql, may.values);
    const isAllowed = row !== undefined && integerOf(row, 'may') > 0;
    return {
      kind: 'missing',
      mayCreate: isAllowed ? 'yes' : may.isCertain ? 'no' : 'unknown',
      ddl: dialect
        .ddl(tables)
        .map((statement) => `${statement};`)
        .join('\n'),
    };
  }
  try {
    await transactions.rows(`select ${SELECTED} from ${tables.letters} where 1 = 0`, []);
    for (const sql of usesOf(tables)) await transactions.rows(sql, []);
    return { kind: 'usable' };
  } catch (error) {
    if (!(error instanceof LettersError) || error.code !== 'LETTERS_SCHEMA') throw error;
    return { kind: 'unusable', problem: problemOf(error), remedy: error.remedy };
  }
}

/** The servers hold an EXPLAIN against the rights that the statement itself needs, and run nothing. */
function usesOf({ letters, keys, owners, dialect }: Tables): readonly string[] {
  return [letters, keys, owners].flatMap((table) => {
    const column = table === owners ? 'epoch' : 'pipeline';
    return [
      `explain update ${table} set ${column} = ${column} where 1 = 0`,
      `explain delete from ${table} where 1 = 0`,
      `explain ${dialect.copyNothing(table)}`,
    ];
  });
}

async function askHeld(
  transactions: Transactions,
  { letters, keys, owners }: Tables,
  pipeline: string,
): Promise<HeldLetters> {
  const [row] = await transactions.rows(
    `select o.id, o.held, count(k.key_hash) as parked, coalesce(max(k.waiting), 0) as most
      from ${owners} o left join ${keys} k on k.pipeline = o.id and k.waiting > 0
      where o.pipeline_hash = ? group by o.id, o.held`,
    [hashOf(pipeline)],
  );
  if (row === undefined) return { all: 0, ofKey: 0, keys: 0, oldest: null };
  // By the index on (pipeline, state, id): letters are numbered as they are parked.
  const [first] = await transactions.rows(
    `select parked_at from ${letters} where pipeline = ? and state = 'waiting' order by id limit 1`,
    [integerOf(row, 'id')],
  );
  const parkedAt = first === undefined ? null : Date.parse(String(first['parked_at']));
  return {
    all: integerOf(row, 'held'),
    ofKey: integerOf(row, 'most'),
    keys: integerOf(row, 'parked'),
    oldest: parkedAt === null ? null : Math.max(0, (Date.now() - parkedAt) / 1_000),
  };
}
