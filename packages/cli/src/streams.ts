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

/** Resolves when the text is on its way: the reader sets the pace, and the end of the process cuts nothing off. */
export function written(output: Output, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => {
      if (error === undefined || error === null) resolve();
      else reject(error);
    });
  });
}
