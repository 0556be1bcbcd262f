import type { Readable } from 'node:stream';

/** What the command reads and writes; `process` fits. */
export interface Streams {
  /** Asked for a confirmation only, and only when it is a terminal. */
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
}

export interface Output {
  /** A terminal: what was written can be drawn anew. */
  readonly isTTY?: boolean;
  /** The width of a terminal. */
  readonly columns?: number;
  readonly rows?: number;
  /** @param done is called when the text is on its way, or with the reason why it can't be */
  write(text: string, done?: (error?: Error | null) => void): unknown;
  /** What a write is told by its `done` comes here, too. */
  on?(event: 'error', listener: (error: Error) => void): unknown;
}

/** The reader has gone: `head` has seen what it wanted to see. */
export function isBrokenPipe(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 'EPIPE';
}

/** As `written`, for a command that does more than to tell: a reader that has gone does not end it. */
export async function tell(output: Output, text: string): Promise<void> {
  try {
    await written(output, text);
  } catch (error) {
    if (!isBrokenPipe(error)) throw error;
  }
}

/** Resolves when the text is on its way: the reader sets the pace, and the end of the process cuts nothing off. */
export function written(output: Output, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => {
      if (error === undefined || error === null) resolve();
      else reject(error);
    });
  });
}
