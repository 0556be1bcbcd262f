import { hasPassword, PASSWORD } from '@strandline/setup';
import type { Ansis } from 'ansis';
import { amount, printable, printableLines, table } from '../text.js';
import type { InitReport, ReportedStep } from './report.js';

const NAMES = { postgres: 'Postgres', mysql: 'MySQL', mariadb: 'MariaDB' } as const;
const WIDTH = 100;

/** What was found: the server, the outbox, and what each column was taken for. */
export function foundText({ server, outbox, others, notes }: InitReport, ink: Ansis): string {
  const score = outbox.score === null ? 'to be made' : `${String(outbox.score)} of 100`;
  const rows = outbox.rows === null || outbox.rows === 0 ? '' : `, about ${amount(outbox.rows, 'row')}`;
  const inserted = outbox.writes?.inserted ?? 0;
  const writes = inserted === 0 ? '' : `, ${amount(inserted, 'insert')} counted`;
  const title = `${ink.bold('Outbox')}  ${printable(outbox.table)} (${score}${rows}${writes})\n`;
  const columns = table(
    [
      ['  id', outbox.id, 'the same at every redelivery'],
      ['  key', outbox.key.join(' + '), outbox.keyWhy],
      ...outbox.alternatives.map(({ columns, why }) => ['', `or ${columns.join(' + ')}`, why]),
      ...(outbox.type === null ? [] : [['  type', outbox.type, '']]),
      ...(outbox.payload === null ? [] : [['  payload', outbox.payload, '']]),
      ...(outbox.headers === null ? [] : [['  headers', outbox.headers, '']]),
    ].map((row) => row.map(printable)),
  );
  return [
    `${NAMES[server.flavour]} ${printable(server.version)} at ${printable(server.target)}, as ${printable(server.user)}\n`,
    ...notes.map((note) => `${ink.yellow('note')}  ${printable(note)}\n`),
    '\n',
    title,
    columns,
    ...(outbox.unneeded.length === 0
      ? []
      : [
          `  Not needed: ${printable(outbox.unneeded.join(', '))}. Strandline reads the log: it marks no row, and rows may be deleted at any time.\n`,
        ]),
    ...(others.length === 0
      ? []
      : [
          `  Also like one: ${printable(others.map(({ table: name, score: of }) => `${name} (${String(of)})`).join(', '))}; --table chooses.\n`,
        ]),
  ].join('');
}

/** What is missing, who does it, and why. */
export function stepsText(steps: readonly ReportedStep[], ink: Ansis): string {
  const here = steps.filter(({ by }) => by === null);
  const elsewhere = steps.filter(({ by }) => by !== null);
  const isDone = here.length > 0 && here.every(({ done }) => done);
  if (steps.length === 0) return `\nThe server has what the pipeline needs.\n`;
  return [
    ...(here.length === 0
      ? []
      : [
          `\n${ink.bold(isDone ? 'Done, in this order' : 'To run, in this order: --apply does it')}\n`,
          ...here.map((step) => stepText(step, ink)),
        ]),
    ...(elsewhere.length === 0
      ? []
      : [`\n${ink.bold('Left to you')}\n`, ...elsewhere.map((step) => stepText(step, ink))]),
  ].join('');
}

function stepText({ text, why, by }: ReportedStep, ink: Ansis): string {
  const comment = by === null ? why : `${why} It takes ${by}.`;
  return [
    ...wrapped(printable(comment)).map((line) => ink.dim(`  -- ${line}\n`)),
    ...printableLines(text).map((line) => `  ${line}\n`),
  ].join('');
}

const RESULTS: Readonly<Record<InitReport['config']['result'], string>> = {
  written: 'is written.',
  overwritten: 'is overwritten.',
  same: 'is there already, just like this.',
  kept: 'is there already and says something else: it is left as it is (--force overwrites it).',
  'dry run': 'would be:',
};

export function filesText({ config, envFile }: InitReport, ink: Ansis): string {
  const dry = config.result === 'dry run' ? `\n${config.text}` : '';
  const env =
    envFile === null
      ? ''
      : `${ink.bold(printable(envFile.file))} ${envFile.result === 'same' ? 'has its variables already.' : 'has the secrets, for its owner alone (0600); .gitignore names it.'}\n`;
  return `\n${ink.bold(printable(config.file))} ${RESULTS[config.result]}\n${dry}${env}`;
}

/** What to put in the place of the password, where a statement with one is left to somebody. */
export function passwordText({ steps, envFile }: InitReport, isWritten: boolean): string {
  if (!steps.some((step) => !step.done && hasPassword(step))) return '';
  return isWritten && envFile !== null
    ? `${PASSWORD} stands for the one in DATABASE_URL of ${printable(envFile.file)}.\n`
    : `Put a password of your own in the place of ${PASSWORD}, there and in DATABASE_URL.\n`;
}

export function nextText({ next }: InitReport, ink: Ansis): string {
  return `\n${ink.bold('Next')}\n${next.map((line) => `  ${printable(line)}\n`).join('')}`;
}

function wrapped(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length >= WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
