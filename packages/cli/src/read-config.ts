import type { Pipeline } from '@strandline/pipeline';
import { CliError } from './errors.js';
import { findConfig } from './find-config.js';
import { loadConfig } from './load-config.js';

/** Tells an error, and what it happened to. */
export type Report = (error: unknown, where?: string) => void;

export interface ReadConfig {
  readonly file: string;
  readonly pipelines: readonly Pipeline[];
}

/**
 * Finds the config and runs it; null when that is not possible, which is then reported.
 *
 * @param given as it was typed, relative to the working directory
 */
export async function readConfig(given: string | undefined, report: Report): Promise<ReadConfig | null> {
  let file: string | undefined;
  try {
    file = findConfig(given, process.cwd());
    return { file, pipelines: await loadConfig(file) };
  } catch (error) {
    // The errors of this package name the file themselves.
    report(error, error instanceof CliError ? undefined : file);
    return null;
  }
}
