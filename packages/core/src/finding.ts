/** What one check has found, for `strandline doctor`. */
export interface Finding {
  /** Names the check, for scripts: `redis-eviction`. It does not change. */
  readonly check: string;
  /**
   * `fail`: the pipeline can't start or stops, or events, or the place where it stands, are lost or can be at any time.
   * `warn`: they can be when something else happens, too, or it could not be asked.
   */
  readonly result: 'pass' | 'warn' | 'fail';
  /** What is set, or how things stand. */
  readonly found: string;
  /** What depends on it. */
  readonly why: string;
  /** What to run or to set, ready to copy; null for a `pass`. */
  readonly remedy: string | null;
}

/** What a check says of the facts. */
export type Verdict = Pick<Finding, 'result' | 'found' | 'remedy'>;

/** One check: a judgement of facts that were gathered before. */
export interface Check<Facts> {
  readonly check: string;
  readonly why: string;
  /** Null where there is nothing to judge: on a server that has no such thing, or before the first start. */
  readonly judge: (facts: Facts) => Verdict | null;
}

/** An answer, or why there is none: nothing is judged by what could not be asked. */
export type Asked<T> =
  | { readonly answer: T }
  | {
      /** Such as `permission denied for table outbox`. */
      readonly unasked: string;
      /** The grant that is missing, or what else would make it answer. */
      readonly remedy: string;
    };

class UnaskedError extends Error {
  override readonly name = 'UnaskedError';

  constructor(
    readonly unasked: string,
    readonly remedy: string,
  ) {
    super(unasked);
  }
}

/** For a `judge`: the answer. Without one the check becomes a warning that says why it could not be made. */
export function answerOf<T>(asked: Asked<T>): T {
  if ('answer' in asked) return asked.answer;
  throw new UnaskedError(asked.unasked, asked.remedy);
}

/** Makes every check; those that have nothing to judge are left out. */
export function findingsOf<Facts>(checks: readonly Check<Facts>[], facts: Facts): readonly Finding[] {
  return checks.flatMap(({ check, why, judge }) => {
    const verdict = verdictOf(() => judge(facts));
    return verdict === null ? [] : [{ check, why, ...verdict }];
  });
}

function verdictOf(judge: () => Verdict | null): Verdict | null {
  try {
    return judge();
  } catch (error) {
    if (!(error instanceof UnaskedError)) throw error;
    return warn(`not known: ${error.unasked}`, error.remedy);
  }
}

export function pass(found: string): Verdict {
  return { result: 'pass', found, remedy: null };
}

export function warn(found: string, remedy: string): Verdict {
  return { result: 'warn', found, remedy };
}

export function fail(found: string, remedy: string): Verdict {
  return { result: 'fail', found, remedy };
}
