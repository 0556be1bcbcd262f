import type { Ansis } from 'ansis';
import type { DatabaseKind } from './database/kinds.js';
import type { Report } from './report.js';
import { number } from './view-text.js';

/** Violations named in the summary; more would only scroll the rest away. */
const NAMED_VIOLATIONS = 5;

/** The end of the demo in words, for someone who has never heard of either consumer. */
export function summaryOf(report: Report, ink: Ansis): string {
  return [
    '',
    `The shop committed ${ink.bold(number(report.strandline.committed))} events of ${number(report.orders)} orders.`,
    '',
    ...idCursorLines(report, ink),
    '',
    ...strandlineLines(report, ink),
    '',
    ink.dim('Counted by comparing the outbox with what each consumer wrote down, order by order.'),
    '',
  ].join('\n');
}

function idCursorLines({ idCursor, example }: Report, ink: Ansis): string[] {
  const wrongOrders = new Set([...idCursor.missed, ...idCursor.violations].map((event) => event.key)).size;
  const missed = `missed ${number(idCursor.missed.length)}`;
  return [
    `${ink.bold('The id cursor')} ${ink.dim('(WHERE id > $last ORDER BY id)')}`,
    `  saw ${number(idCursor.handled)} and ${ink.red(missed)}; ${number(wrongOrders)} orders came out with a wrong history.`,
    ...(example === undefined
      ? []
      : [`  For one, it never learned of "${example.type}" for order ${example.key}.`]),
    '  Why: a transaction takes its id early, but its row appears only when it commits.',
    '  One that lingers commits a small id after the cursor has passed it, and the',
    '  cursor never looks back.',
  ];
}

function strandlineLines(report: Report, ink: Ansis): string[] {
  const { strandline, kills, plannedKills } = report;
  const isClean = strandline.missed.length === 0 && strandline.violations.length === 0;
  const returns = kills.flatMap(({ backAfter }) =>
    backAfter === undefined ? [] : [`${backAfter.toFixed(1)} s`],
  );
  const verdict = `missed ${number(strandline.missed.length)}, out of order ${number(strandline.violations.length)}`;
  return [
    `${ink.bold('Strandline')} ${ink.dim('(reads the log, in commit order, one strand per order)')}`,
    `  handled ${number(strandline.handled)}: ${(isClean ? ink.green : ink.red)(verdict)}.`,
    `  It was killed with SIGKILL ${number(kills.length)} times (planned: ${number(plannedKills)}) and came back ` +
      `after ${returns.join(' and ')}.`,
    `  ${number(strandline.duplicates)} events came a second time: those in flight at a kill, or done and not yet saved.`,
    `  ${number(report.retried)} events failed at first and were retried, while the rest of their order waited.`,
    ...strandline.violations
      .slice(0, NAMED_VIOLATIONS)
      .map(({ kind, key, id, run }) =>
        ink.red(`  ${kind}: event ${id} of order ${key} in life ${number(run)}`),
      ),
    ...strandline.missed
      .slice(0, NAMED_VIOLATIONS)
      .map(({ key, id }) => ink.red(`  missed: event ${id} of order ${key}`)),
  ];
}

export function nextCommands(ink: Ansis): string {
  const rows = [
    ['npm start -- --keep', 'stay up, with the console in the browser and orders in trouble'],
    ['npm start -- --mysql, or --mariadb', 'the same on the binlog'],
    ['npm start -- --seconds 60', 'let the shop run longer'],
    ['REDIS_URL=redis://127.0.0.1:6379 npm start', 'keep the offsets in Redis'],
    ['npm test', 'see the promises proven on real servers'],
  ] as const;
  return [
    'Try next:',
    ...rows.map(([command, purpose]) => `  ${ink.cyan(command.padEnd(44))}${purpose}`),
    '  README.md has a first pipeline of your own in 15 lines.',
    '',
  ].join('\n');
}

export interface Places {
  readonly kind: DatabaseKind;
  readonly url: string;
  /** Where the console is. */
  readonly consoleUrl: string | null;
  readonly offsets: string;
  readonly log: string;
}

export function playground({ kind, url, consoleUrl, offsets, log }: Places, ink: Ansis): string {
  const insert =
    `INSERT INTO outbox (order_id, version, type, payload) ` +
    `SELECT id, version + 1, 'order.returned', '{}' FROM orders LIMIT 1`;
  return [
    `${ink.bold('Still up.')} The id cursor has stopped; the shop goes on at an easy pace, and so does Strandline.`,
    `  ${'console'.padEnd(11)}${ink.bold(consoleUrl ?? 'none')}`,
    `  ${kind.label.padEnd(11)}${url}`,
    `  offsets    ${offsets}`,
    `  its log    ${log}`,
    'Some orders are in trouble from now on, to be looked at in the console: refused by the carrier, out of its reach',
    'for two minutes, or slow. Insert an event of your own and see it handled:',
    `  ${ink.cyan(kind.shellCommand(url, insert))}`,
    'Ctrl-C ends everything and removes it.',
  ].join('\n');
}
