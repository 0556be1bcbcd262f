import path from 'node:path';
import {
  configText,
  hasPassword,
  openDatabase,
  outboxesAmong,
  valueIn,
  type Database,
  type Place,
  type Step,
  type Survey,
} from '@strandline/setup';
import { inkFor } from '../ink.js';
import { tell, type Streams } from '../streams.js';
import { json } from '../text.js';
import { askPlace } from './ask-place.js';
import type { Asker } from './asker.js';
import { decide, type Decision } from './decide.js';
import { DEFAULT_ENV_FILE, type InitOptions } from './options.js';
import { nextCommands, outboxReport, type InitReport, type ReportedStep } from './report.js';
import { terminalAsker } from './terminal-asker.js';
import { filesText, foundText, nextText, passwordText, stepsText } from './text.js';
import { isLoginOf, textOf, variablesOf, type Variables } from './variables.js';
import { writeConfig, writeEnvFile } from './write-files.js';

/**
 * Looks, decides, writes, and runs what it was told to run; prints what it did. The order: nothing is written before all is
 * decided, and the files come before the statements, so that a password is kept before the server has it.
 */
export async function init(
  options: InitOptions,
  streams: Streams,
  asker: Asker | null = options.json === true ? null : terminalAsker(streams),
): Promise<void> {
  const place = await askPlace(options.url, asker);
  const database = await openDatabase(place);
  const survey = await database.survey(options.table ?? null);
  const decision = await decide(survey, options, asker);
  const steps = await stepsFor(database, decision);
  const ink = inkFor(streams.stdout);
  const say = (text: string): Promise<void> =>
    options.json === true ? Promise.resolve() : tell(streams.stdout, text);

  const planned = reportOf({ options, place, survey, decision, steps: steps.map(undone) });
  await say(foundText(planned, ink));
  const runnable = steps.filter(({ by }) => by === null);
  if (options.apply !== true && runnable.length > 0) await say(stepsText(planned.steps, ink));
  const runs = runnable.length > 0 && (options.apply ?? (await asksToRun(options, runnable, asker)));

  const needsPassword = steps.some(hasPassword);
  const envName =
    options.variables ?? defaultEnvFile(decision.choice.role, runs && runnable.some(hasPassword));
  const file = envName === null ? null : { name: envName, text: textOf(path.resolve(envName)) };
  const roleIsThere = !needsPassword && (await database.hasRole(decision.choice.role));
  const variables = variablesOf({ place, decision, user: survey.user, roleIsThere, file });
  const files = writeFiles(options, planned.config.text, envName, variables);

  const done = new Set<Step>();
  const ended = async (hasFailed: boolean): Promise<void> => {
    const reported = steps.map((step) => ({ ...step, done: done.has(step) }));
    const report = finished({ planned, files, variables, options, steps: reported });
    if (options.json === true) await tell(streams.stdout, json(report));
    const told = runs ? reported.filter(({ by, done }) => by !== null || done) : reported;
    if (runs || runnable.length === 0) await say(stepsText(told, ink));
    await say(filesText(report, ink) + passwordText(report, variables.password !== null));
    if (!hasFailed) await say(nextText(report, ink));
  };
  try {
    if (runs) await database.run(steps, variables.password, (step) => done.add(step));
  } catch (error) {
    await ended(true);
    throw error;
  }
  await ended(false);
}

/** For a password that is made, and where an earlier call has written that of this role. */
function defaultEnvFile(role: string, makesPassword: boolean): string | null {
  return makesPassword || isLoginOf(role, textOf(path.resolve(DEFAULT_ENV_FILE))) ? DEFAULT_ENV_FILE : null;
}

/** What the table itself needs comes first: without it nothing of it is in the log. */
async function stepsFor(database: Database, { choice, candidate }: Decision): Promise<readonly Step[]> {
  const obstacle = candidate?.table.obstacle ?? null;
  const first: Step[] =
    obstacle === null
      ? []
      : [{ text: obstacle.sql, why: obstacle.what, by: 'somebody who knows the table, which it may lock' }];
  return [...first, ...(await database.missing(choice))];
}

async function asksToRun(
  { dryRun }: InitOptions,
  steps: readonly Step[],
  asker: Asker | null,
): Promise<boolean> {
  if (asker === null || dryRun === true) return false;
  return asker.confirm(`Run these ${String(steps.length)} statements now?`);
}

function undone(step: Step): ReportedStep {
  return { ...step, done: false };
}

interface Files {
  readonly config: InitReport['config']['result'];
  readonly envFile: InitReport['envFile'];
}

function writeFiles(
  { out, force, dryRun }: InitOptions,
  text: string,
  envName: string | null,
  { known }: Variables,
): Files {
  if (dryRun === true) return { config: 'dry run', envFile: null };
  const envFile =
    envName === null ? null : { file: envName, result: writeEnvFile(path.resolve(envName), known) };
  return { config: writeConfig(path.resolve(out), text, force === true), envFile };
}

interface Planned {
  readonly options: InitOptions;
  readonly place: Place;
  readonly survey: Survey;
  readonly decision: Decision;
  readonly steps: readonly ReportedStep[];
}

function reportOf({ options, place, survey, decision, steps }: Planned): InitReport {
  const { choice, offsets, webhook, key, textPayload, candidate } = decision;
  const { flavour, version, user, tableCount } = survey;
  const text = configText({ flavour, choice, offsets, webhook: webhook !== null, key, textPayload });
  return {
    server: { flavour, version, target: place.target, user, tables: tableCount },
    notes: survey.notes,
    pipeline: choice.name,
    outbox: outboxReport(decision),
    others: outboxesAmong(survey.tables)
      .filter(({ table }) => table !== candidate?.table)
      .map(({ table, score }) => ({ table: `${table.schema}.${table.name}`, score })),
    config: { file: options.out, result: 'dry run', text },
    steps,
    envFile: null,
    variables: [],
    next: [],
  };
}

interface Finished {
  readonly planned: InitReport;
  readonly files: Files;
  readonly variables: Variables;
  readonly options: InitOptions;
  readonly steps: readonly ReportedStep[];
}

function finished({ planned, files, variables, options, steps }: Finished): InitReport {
  const text = files.envFile === null ? '' : textOf(path.resolve(files.envFile.file));
  const toSet = variables.shown.filter(({ name }) => valueIn(text, name) === null);
  return {
    ...planned,
    config: { ...planned.config, result: files.config },
    steps,
    envFile: files.envFile,
    variables: toSet,
    next: nextCommands(options.out, files.envFile?.file ?? null, toSet),
  };
}
