import type { ProblemAnswer } from '@strandline/admin';

/** What the API answers instead of what was asked for. */
export class Problem extends Error {
  readonly code: string;
  readonly remedy: string;
  readonly status: number;

  constructor({ code, problem, remedy }: ProblemAnswer, status: number) {
    super(problem);
    this.name = 'Problem';
    this.code = code;
    this.remedy = remedy;
    this.status = status;
  }
}

/** Any error as one that can be shown. */
export function problemFrom(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(
    {
      code: 'CONSOLE_OUT_OF_REACH',
      problem: 'The process does not answer.',
      remedy: 'See whether it runs, and whether this machine reaches it.',
    },
    0,
  );
}

/** A problem from an answer, whatever its body is: a proxy in between answers as it likes. */
export function problemOf(status: number, body: unknown): Problem {
  const { code, problem, remedy } = (body ?? {}) as Partial<Record<keyof ProblemAnswer, unknown>>;
  if (typeof code === 'string' && typeof problem === 'string' && typeof remedy === 'string')
    return new Problem({ code, problem, remedy }, status);
  return new Problem(
    {
      code: 'CONSOLE_ANSWER',
      problem: `The answer is ${String(status)}, and not one of Strandline's.`,
      remedy: 'See what lies between this browser and the process, such as a proxy.',
    },
    status,
  );
}
