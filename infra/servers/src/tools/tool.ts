import type { Program } from '../process/unprivileged.js';

/** A program for tests that is no server: how to start it, and the variables that it needs beside those of this process. */
export interface Tool {
  readonly env: Readonly<Record<string, string>>;
  program(args: readonly string[]): Program;
}
