import type { InstanceDetails } from '@strandline/pipeline';
import type { Ansis } from 'ansis';
import { amount, printable, table } from '../text.js';
import { orderText } from '../control/answers.js';
import type { Instance } from './instances.js';
import { errorText } from './problems.js';
import type { StatusReport } from './report.js';
import { bytesText, secondsText } from '../units.js';

const UNKNOWN = 'unknown';
const LONGEST_POSITION = 60;

const PAUSES: Readonly<Record<string, string>> = {
  window: 'the window is full of events that are not settled',
  handlers: 'the handlers are slower than the log',
  key: 'a key has as many events here as it may (maxPerKey)',
  offsets: 'too much is settled and not saved: the offset store is away',
  operator: 'an operator has paused the pipeline: no handler starts',
};

const PRUNING: Readonly<Record<string, string>> = {
  waiting: 'waiting for who has not settled what is old',
  elsewhere: 'another pruner of it is at work',
  failed: 'tried again at the next round',
};

/** A pipeline in some lines. */
export function statusText(report: StatusReport, ink: Ansis): string {
  const { pipeline, owner, standbys, others, offset, bookmarks, problems } = report;
  const details = owner?.details ?? null;
  const facts: (readonly [string, string])[] = [
    ...standbys.map((one) => ['standby', instanceText(one)] as const),
    ...others.map((one) => [one.state, instanceText(one)] as const),
    ['saved', offset === null ? savedNothing(report) : savedText(offset)],
    ['lag', lagText(report)],
    ...(details === null ? [] : workOf(details)),
    ...lettersOf(report),
    ...pruneOf(details),
    ['bookmarks', bookmarks === null ? UNKNOWN : String(bookmarks)],
  ];
  return [
    `${ink.bold(printable(pipeline))}  ${ownerText(owner, ink)}\n`,
    table(facts.map(([name, text]) => [`  ${name}`, printable(text)])),
    ...(details === null ? [] : keysOf(details)),
    ...section('held back by', details?.prune?.heldBack ?? [], ({ who, why }) => [who, why]),
    ...heldOf(report),
    ...problems.map((problem) => `  ${ink.red('!')} ${printable(problem)}\n`),
  ].join('');
}

function ownerText(owner: Instance | null, ink: Ansis): string {
  if (owner === null) return ink.red('no owner is known');
  const { state, epoch } = owner;
  return `${ink.green(printable(state))} on ${printable(instanceText(owner))}, epoch ${String(epoch)}`;
}

function instanceText({ host, pid, startedAt }: Instance): string {
  return `${host} (pid ${String(pid)}) since ${startedAt}`;
}

function savedNothing({ unasked }: StatusReport): string {
  return unasked.some(({ place }) => place === 'offsets') ? UNKNOWN : 'nothing yet';
}

function savedText({ watermark, age, completedRuns, epoch }: NonNullable<StatusReport['offset']>): string {
  const runs = completedRuns === 0 ? '' : `, ${amount(completedRuns, 'settled run')} above it`;
  return `${shortened(watermark)}, ${secondsText(age)} ago, epoch ${String(epoch)}${runs}`;
}

/** With GTIDs a position can be longer than a terminal is wide; JSON has all of it. */
function shortened(position: string): string {
  return position.length <= LONGEST_POSITION ? position : `${position.slice(0, LONGEST_POSITION)}…`;
}

function lagText({ lag, log }: StatusReport): string {
  const { events, moreEvents, bytes, seconds } = lag;
  const retained = log?.retainedBytes ?? null;
  const known = events === null ? `events ${UNKNOWN}` : amount(events, 'event');
  return [
    events !== null && moreEvents ? `${known} or more` : known,
    bytes === null ? `bytes ${UNKNOWN}` : `${bytesText(bytes)} of log`,
    seconds === null ? `time ${UNKNOWN}` : secondsText(seconds),
    ...(retained === null ? [] : [`${bytesText(retained)} kept by the server`]),
  ].join(', ');
}

function workOf(details: InstanceDetails): (readonly [string, string])[] {
  const { source, paused, suspecting, settledBefore, watermarkAge, rates, oldest } = details;
  const { running, stuck, backoff, exhausted, halted, held, strands } = details;
  const waiting = Math.max(0, strands - running - stuck - backoff - exhausted - halted - held);
  const counts = [
    `${amount(details.unsettled, 'event')} of ${amount(strands, 'key')}`,
    `${amount(running + stuck, 'key')} in flight${stuck === 0 ? '' : ` (${String(stuck)} stuck)`}`,
    `${String(waiting)} waiting`,
    `${String(backoff)} retrying`,
    ...(exhausted === 0 ? [] : [`${String(exhausted)} failed for good`]),
    ...(halted === 0 ? [] : [`${String(halted)} halted`]),
    ...(held === 0 ? [] : [`${String(held)} held`]),
  ];
  return [
    ['log', source === null ? UNKNOWN : sourceText(source)],
    ...(paused === null ? [] : [['paused', PAUSES[paused] ?? paused] as const]),
    ['work', counts.join(', ')],
    ...(suspecting
      ? [['suspects', 'events run one at a time, to find the one whose handler ends the process'] as const]
      : []),
    ...(rates === null
      ? []
      : [['rate', `${String(rates.admitted)}/s read, ${String(rates.settled)}/s settled`] as const]),
    ...(settledBefore === null || watermarkAge === null
      ? []
      : [['watermark', `committed before ${settledBefore}: ${secondsText(watermarkAge)} ago`] as const]),
    ...(oldest === null
      ? []
      : [['oldest', `event ${oldest.id} of key ${oldest.key}, ${secondsText(oldest.age)}`] as const]),
  ];
}

function sourceText({ state, lagBytes, reconnects }: NonNullable<InstanceDetails['source']>): string {
  return [
    state,
    ...(lagBytes === null ? [] : [`${bytesText(lagBytes)} to read`]),
    ...(reconnects === 0 ? [] : [amount(reconnects, 'reconnect')]),
  ].join(', ');
}

function lettersOf({ letters, owner }: StatusReport): (readonly [string, string])[] {
  const details = owner?.details ?? null;
  const parked = details === null ? 0 : details.parked;
  if (letters === null) return parked === 0 ? [] : [['parked', amount(parked, 'key')]];
  const { keys, waiting, skipped } = letters;
  const releasing = details === null ? 0 : details.releasing;
  return [
    [
      'parked',
      `${amount(keys, 'key')} with ${amount(waiting, 'letter')} that wait, ${amount(skipped, 'letter')} skipped` +
        (releasing === 0 ? '' : `, ${amount(releasing, 'key')} being worked off`),
    ],
  ];
}

function pruneOf(details: InstanceDetails | null): (readonly [string, string])[] {
  const prune = details?.prune ?? null;
  if (prune === null) return [];
  const { outbox, state, rowsDeleted, partitionsDropped, candidates, oldest, paused, error } = prune;
  const text = [
    `${outbox ?? 'its outbox'}: ${PRUNING[state] ?? state}`,
    `${amount(rowsDeleted, 'row')} deleted`,
    ...(partitionsDropped === 0 ? [] : [`${amount(partitionsDropped, 'partition')} dropped`]),
    ...(candidates === 0 ? [] : [`${amount(candidates, 'old row')} held back`]),
    ...(oldest === null ? [] : [`oldest from ${oldest}`]),
    ...(paused === null ? [] : [`pausing: ${paused}`]),
    ...(error === null ? [] : [`failed: ${error.code === null ? '' : `${error.code}: `}${error.message}`]),
  ].join(', ');
  return [['prune', text]];
}

function keysOf({ turns, failing, hot, parkedKeys, fullKeys, partial }: InstanceDetails): string[] {
  return [
    ...section('slowest', turns, ({ key, id, attempt, age, stuck }) => [
      key,
      `event ${id}`,
      `attempt ${String(attempt)}`,
      `for ${secondsText(age)}${stuck ? ', stuck' : ''}`,
    ]),
    ...section('failing', failing, ({ key, state, events, attempt, age, nextTryIn, error }) => [
      key,
      `${state}, ${amount(attempt, 'attempt')} in ${secondsText(age)}`,
      nextTryIn === null ? 'no next try' : `next in ${secondsText(nextTryIn)}`,
      amount(events, 'event'),
      errorText(error),
    ]),
    ...section('hottest', hot, ({ key, events }) => [key, amount(events, 'event')]),
    ...section('parked', parkedKeys, (key) => [key]),
    ...section('no room for', fullKeys, (key) => [key]),
    ...(partial ? ['  (there are more keys than were looked at: those that live longest were)\n'] : []),
  ];
}

function heldOf({ heldKeys }: StatusReport): string[] {
  if (heldKeys === null) return [];
  const { first, count } = heldKeys;
  const more = count - first.length;
  return [
    ...section('held', first, ({ key, ...order }) => [key, orderText(order)]),
    ...(more === 0 ? [] : [`  (and ${amount(more, 'more key', 'more keys')}: strandline keys list)\n`]),
  ];
}

function section<T>(name: string, items: readonly T[], row: (item: T) => string[]): string[] {
  if (items.length === 0) return [];
  return [`  ${name}:\n`, table(items.map((item) => ['   ', ...row(item).map(printable)]))];
}
