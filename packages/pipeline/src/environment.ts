import { readFileSync } from 'node:fs';
import { pipelineError } from './errors.js';

/**
 * A secret or a setting from the environment: of `NAME`, or of the file that `NAME_FILE` names, as Docker and Kubernetes
 * mount secrets (a newline at its end is left out). Throws `PIPELINE_CONFIG` when neither is set, or the file can't be
 * read; the value is in no message.
 */
export function env(name: string, fallback?: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  const file = process.env[`${name}_FILE`];
  if (file !== undefined && file !== '') return secretIn(file, name);
  if (fallback !== undefined) return fallback;
  throw pipelineError(
    'PIPELINE_CONFIG',
    `The environment variable ${name} is not set.`,
    `Set ${name}, or ${name}_FILE to the path of a file that holds it.`,
  );
}

function secretIn(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw pipelineError(
      'PIPELINE_CONFIG',
      `${name}_FILE names ${file}, which can not be read.`,
      'Correct the path, or let this user read the file.',
      { cause },
    );
  }
}
