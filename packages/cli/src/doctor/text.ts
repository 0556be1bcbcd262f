import type { Finding } from '@strandline/core';
import type { Ansis } from 'ansis';
import { printable, printableLines } from '../text.js';
import { PLACES, type Examination, type Place, type PlacedFinding } from './examine.js';

const HEADINGS: Readonly<Record<Place, string>> = {
  pipeline: 'pipeline',
  source: 'source',
  offsets: 'offsets',
  deadLetters: 'dead letters',
  handler: 'handler',
};

const RESULTS = ['fail', 'warn', 'pass'] as const;

/**
 * What is to be done first, place by place. A line for each check; why it matters and what to run only where something is
 * to be done.
 *
 * @param onlyProblems leaves out what passed
 */
export function examinationText(
  { pipeline, findings }: Examination,
  ink: Ansis,
  onlyProblems = false,
): string {
  const shown = findings.filter(({ result }) => !onlyProblems || result !== 'pass');
  const widest = Math.max(0, ...shown.map(({ check }) => check.length));
  const parts = PLACES.flatMap((place) => {
    const here = shown.filter((finding) => finding.place === place);
    if (here.length === 0) return [];
    const lines = RESULTS.flatMap((result) => here.filter((finding) => finding.result === result));
    return [`  ${HEADINGS[place]}\n`, ...lines.map((finding) => findingText(finding, widest, ink))];
  });
  const nothing = findings.length === 0 ? '  nothing to check\n' : '  nothing to do\n';
  return [`${ink.bold(printable(pipeline))}\n`, ...(parts.length === 0 ? [nothing] : parts)].join('');
}

function findingText(finding: PlacedFinding, widest: number, ink: Ansis): string {
  const { check, result, found, why, remedy } = finding;
  const line = `    ${mark(finding, ink)}  ${printable(check.padEnd(widest))}  ${printable(found)}\n`;
  const reason = result === 'pass' ? '' : `          ${printable(why)}\n`;
  const steps = remedy === null ? [] : printableLines(remedy);
  return line + reason + steps.map((step) => `          ${ink.bold(step)}\n`).join('');
}

/** `1 fail, 2 warn, 31 pass` */
export function summaryText(examinations: readonly Examination[]): string {
  const all = examinations.flatMap(({ findings }) => findings);
  const count = (result: Finding['result']): string =>
    `${String(all.filter((finding) => finding.result === result).length)} ${result}`;
  return `${RESULTS.map(count).join(', ')}\n`;
}

function mark({ result }: Finding, ink: Ansis): string {
  const colour = { pass: ink.green, warn: ink.yellow, fail: ink.red }[result];
  return colour(result);
}
