import type { PipelineAnswer, StrandAnswer } from '@strandline/admin';
import { amount } from '../text/numbers.ts';
import { seconds, span } from '../text/times.ts';

/** How bad it is: nothing goes on, a key or the log stands, somebody has ordered it or it heals by itself. */
export type Severity = 'down' | 'stands' | 'notice';

/** Something that wants somebody to look. */
export interface Concern {
  readonly severity: Severity;
  /** Of the key that it is about; null when it is about the pipeline. */
  readonly strand: StrandAnswer | null;
  /** A key of which nothing is live, such as a parked one. */
  readonly key: string | null;
  /** What is the matter, since when. */
  readonly what: string;
  /** The error behind it. */
  readonly why: string | null;
  /** What waits for it. */
  readonly holdsUp: string | null;
  /** Where more is to be seen. */
  readonly leadsTo: 'key' | 'oldest' | 'failing' | 'held' | 'letters' | 'health' | 'none';
  /** How many keys it stands for, where it is about several. */
  readonly keys?: number;
}

/** Keys in trouble that are named one by one; the others are counted. */
export const NAMED = 6;
/** Milliseconds that a key may fail before it counts as stuck: what a second try heals is no trouble. */
const FRESH = 10_000;

const ORDER: readonly Severity[] = ['down', 'stands', 'notice'];

/**
 * What somebody should know first, the worst first: what is down, then keys that stand, then what is only to be known.
 *
 * @param strands the keys whose heads have failed, and those whose handlers take too long, `NAMED` of each; null where nobody
 *   has asked for them
 * @param now milliseconds since 1970
 */
export function concernsOf(
  pipeline: PipelineAnswer,
  strands: readonly StrandAnswer[] | null,
  now: number,
): Concern[] {
  const concerns = [
    ...ofPipeline(pipeline),
    ...(strands ?? []).slice(0, NAMED).map((strand) => ofStrand(strand, now)),
    ...ofOthers(pipeline, strands),
    ...ofLetters(pipeline),
  ];
  return concerns.sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
}

const NONE = { strand: null, key: null, why: null, holdsUp: null } as const;

function ofPipeline({ look, health, state }: PipelineAnswer): Concern[] {
  const concerns: Concern[] = [];
  if (look.error !== null) {
    const { name, code, message } = look.error;
    concerns.push({
      ...NONE,
      severity: 'down',
      what: 'The pipeline has failed.',
      why: `${code ?? name}: ${message}`,
      leadsTo: 'health',
    });
  } else if (!health.ready || !health.advancing) {
    concerns.push({
      ...NONE,
      severity: 'down',
      what: sentence(health.reasons) || `It is ${state}.`,
      leadsTo: 'health',
    });
  }
  if (!look.lettersAvailable)
    concerns.push({
      ...NONE,
      severity: 'stands',
      what: 'The dead-letter table does not answer: keys that failed for good hold the log.',
      leadsTo: 'health',
    });
  const paused = PAUSES[look.paused ?? ''];
  if (paused !== undefined) concerns.push({ ...NONE, ...paused });
  if (look.suspecting)
    concerns.push({
      ...NONE,
      severity: 'notice',
      what: 'Events run one at a time, to find the one whose handler ends the process.',
      leadsTo: 'none',
    });
  return concerns;
}

/** What it means that the log is not read on. */
const PAUSES: Readonly<Record<string, Pick<Concern, 'severity' | 'what' | 'leadsTo'>>> = {
  operator: {
    severity: 'notice',
    what: 'Somebody has paused the pipeline: no handler starts.',
    leadsTo: 'health',
  },
  window: {
    severity: 'stands',
    what: 'The window is full: the log is read on when its oldest events are settled.',
    leadsTo: 'oldest',
  },
  handlers: {
    severity: 'notice',
    what: 'Handlers are slower than the log: it is read on as keys get their turns.',
    leadsTo: 'oldest',
  },
  key: {
    severity: 'stands',
    what: 'One key has as many events as it may have here, and the log waits for it.',
    leadsTo: 'oldest',
  },
  offsets: {
    severity: 'down',
    what: 'Settled events can not be saved: the log is read on when the offset store answers.',
    leadsTo: 'health',
  },
};

function ofStrand(strand: StrandAnswer, now: number): Concern {
  const { state, key, turn, attempts, firstFailedAt, lastError, held } = strand;
  const why = lastError === null ? null : `${lastError.code ?? lastError.name}: ${lastError.message}`;
  const failing =
    firstFailedAt === null
      ? ''
      : `failing for ${span(now - Date.parse(firstFailedAt))}, ${amount(attempts, 'attempt')}`;
  const what =
    turn?.stuck === true
      ? `handler runs for ${span(turn.runningFor)}, longer than handlerTimeout`
      : (STRAND_WORDS[state]?.(failing) ?? failing);
  const fresh = state === 'backoff' && firstFailedAt !== null && now - Date.parse(firstFailedAt) < FRESH;
  const severity = held || state === 'held' || fresh ? 'notice' : 'stands';
  return { severity, strand, key, what, why, holdsUp: holdsUpText(strand), leadsTo: 'key' };
}

/** The keys in trouble that are not named, and those that are held. */
function ofOthers({ look }: PipelineAnswer, strands: readonly StrandAnswer[] | null): Concern[] {
  const { stuck, backoff, exhausted, halted, held, failing } = look;
  const named = strands?.slice(0, NAMED) ?? [];
  const troubled = stuck + backoff + exhausted + halted;
  const others = troubled - named.filter((strand) => !strand.held).length;
  const fresh = troubled === backoff && (failing[0]?.age ?? 0) * 1_000 < FRESH;
  const concerns: Concern[] = [];
  // Between two answers a key may have come or gone: fewer than can be named are all named.
  if (others > 0 && (strands === null || strands.length >= NAMED))
    concerns.push({
      ...{ ...NONE, leadsTo: 'failing', keys: others },
      severity: fresh ? 'notice' : 'stands',
      what: `${amount(others, named.length === 0 ? 'key' : 'more key')} in trouble: failing, or with a handler that takes too long.`,
    });
  if (held > 0 && !named.some((strand) => strand.held))
    concerns.push({
      ...{ ...NONE, severity: 'notice', leadsTo: 'held' },
      what: `${amount(held, 'key')} held by operators: the events wait here, and hold the log.`,
    });
  return concerns;
}

const STRAND_WORDS: Readonly<Record<string, (failing: string) => string>> = {
  backoff: (failing) => failing,
  halted: (failing) => `halted: ${failing}; it stands until somebody retries, parks or skips it`,
  exhausted: (failing) => `${failing}; it waits to be stored as a dead letter`,
  held: () => 'held by an operator',
};

/** What waits for the head of a strand. */
export function holdsUpText({ holdsUp: { behind, watermark } }: StrandAnswer): string | null {
  const texts = [
    ...(behind > 0 ? [`${amount(behind, 'event')} of the key behind it`] : []),
    ...(watermark === null
      ? []
      : [
          `the last ${span(watermark.spans)} of the log, with ${amount(watermark.unsettled, 'unsettled event')}`,
        ]),
  ];
  return texts.length === 0 ? null : texts.join(', and ');
}

function ofLetters({ look }: PipelineAnswer): Concern[] {
  const full = look.fullKeys.map((key): Concern => ({
    ...NONE,
    ...{ severity: 'stands', key, leadsTo: 'letters' },
    what: 'parked, and the dead-letter table has no room for more of it: the log waits',
  }));
  if (look.parked === 0) return full;
  const some = look.parkedKeys.length === 1 ? look.parkedKeys[0] : undefined;
  const what =
    look.parked === 1
      ? 'parked: its events wait in the dead letters'
      : `${amount(look.parked, 'key')} parked: their events wait in the dead letters.`;
  return [...full, { ...NONE, severity: 'notice', key: some ?? null, what, leadsTo: 'letters' }];
}

/** How the whole is, in a few words. */
export function verdictOf(
  pipeline: PipelineAnswer,
  concerns: readonly Concern[],
): { readonly tone: 'good' | 'warn' | 'bad' | 'calm'; readonly text: string } {
  if (concerns.some(({ severity }) => severity === 'down'))
    return { tone: 'bad', text: 'It does not work: it needs somebody now' };
  const standing = concerns
    .filter(({ severity }) => severity === 'stands')
    .reduce((sum, { keys = 1 }) => sum + keys, 0);
  if (standing > 0)
    return {
      tone: 'warn',
      text:
        standing === 1
          ? 'One thing is stuck and needs a look'
          : `${amount(standing, 'thing')} are stuck and need a look`,
    };
  if (pipeline.state === 'standby')
    return { tone: 'calm', text: 'It stands by: another process has the pipeline' };
  if (pipeline.look.paused === 'operator') return { tone: 'warn', text: 'Paused by somebody' };
  const { unsettled, oldest } = pipeline.look;
  if (unsettled === 0) return { tone: 'good', text: 'Everything that was read is settled' };
  return {
    tone: 'good',
    text: `It gets on: the oldest of ${amount(unsettled, 'event')} is ${seconds(oldest?.age)} old`,
  };
}

function sentence(reasons: readonly string[]): string {
  const text = reasons.join('; ');
  return text === '' ? '' : `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
