/** What was thrown, as texts. */
export interface Thrown {
  /** Whether it was an error; of another value nothing but its type is told, for it may be a payload. */
  readonly isError: boolean;
  /** The error's name, or the type of what is none. */
  readonly name: string;
  readonly message: string;
  readonly code: string | null;
  readonly stack: string | null;
  /** As it is: undefined when there is none. */
  readonly cause: unknown;
}

/**
 * Reads what was thrown, and never throws. Whoever throws chooses what it is: clients fill errors with what a server has
 * answered, so that a message may be a record and a name be missing, and a field may throw when it is read.
 */
export function readThrown(thrown: unknown): Thrown {
  if (!isError(thrown))
    return { isError: false, name: typeof thrown, message: '', code: null, stack: null, cause: undefined };
  const [code, stack] = [fieldOf(thrown, 'code'), fieldOf(thrown, 'stack')];
  return {
    isError: true,
    name: textOf(fieldOf(thrown, 'name')) ?? 'Error',
    message: textOf(fieldOf(thrown, 'message')) ?? '(a message that is no text)',
    code: typeof code === 'number' ? String(code) : textOf(code),
    stack: textOf(stack),
    cause: fieldOf(thrown, 'cause'),
  };
}

function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error;
  } catch {
    return false;
  }
}

function fieldOf(error: Error, name: string): unknown {
  try {
    return (error as unknown as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
