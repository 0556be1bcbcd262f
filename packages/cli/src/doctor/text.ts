import type { Finding } from '@strandline/core';
import type { Ansis } from 'ansis';
import { printable } from '../text.js';
import type { Examination } from './examine.js';

/** A line for each check; why it matters and what to run only where something is to be done. */
export function examinationText({ pipeline, findings }: Examination, ink: Ansis): string {
  const widest = Math.max(0, ...findings.map(({ check }) => check.length));
  const lines = findings.flatMap((finding) => [
    `  ${mark(finding, ink)}  ${printable(finding.check.padEnd(widest))}  ${printable(finding.found)}\n`,
    ...(finding.result === 'pass' ? [] : [`        ${printable(finding.why)}\n`]),
    ...(finding.remedy === null ? [] : [`        ${ink.bold(printable(finding.remedy))}\n`]),
  ]);
  return [
    `${ink.bold(printable(pipeline))}\n`,
    ...(lines.length === 0 ? ['  nothing to check\n'] : lines),
  ].join('');
}

function mark({ result }: Finding, ink: Ansis): string {
  const colour = { pass: ink.green, warn: ink.yellow, fail: ink.red }[result];
  return colour(result);
}
