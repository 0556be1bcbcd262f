import { OffsetsError } from './errors.js';

/** What is kept of a pipeline, a key each. */
export type Kept = 'offset' | 'bookmarks' | 'instances' | 'controls';

/**
 * A key of a pipeline. The pipeline's name is the hash tag, so that on a cluster whatever belongs to one
 * pipeline lies in one slot; a brace in it would end the tag early, so braces are percent-encoded.
 */
export function keyOf(prefix: string, pipeline: string, kept: Kept): string {
  if (pipeline === '') throw badName('is empty');
  // Half of a surrogate pair becomes U+FFFD in UTF-8: two such names would meet in one key.
  if (/\p{Surrogate}/u.test(pipeline)) throw badName('is not valid Unicode');
  return `${prefix}:{${pipeline.replace(/[%{}]/g, encodeURIComponent)}}:${kept}`;
}

function badName(problem: string): OffsetsError {
  return new OffsetsError(
    'OFFSETS_CONFIG',
    `The pipeline's name ${problem}.`,
    'Give the pipeline another name.',
  );
}
