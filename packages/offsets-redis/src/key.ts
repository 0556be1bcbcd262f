import { OffsetsError } from './errors.js';

/**
 * The hash of a pipeline. The pipeline's name is the hash tag, so that on a cluster whatever belongs to one
 * pipeline lies in one slot; a brace in it would end the tag early, so braces are percent-encoded.
 */
export function offsetKey(prefix: string, pipeline: string): string {
  if (pipeline === '') throw badName('is empty');
  // Half of a surrogate pair becomes U+FFFD in UTF-8: two such names would meet in one key.
  if (/\p{Surrogate}/u.test(pipeline)) throw badName('is not valid Unicode');
  return `${prefix}:{${pipeline.replace(/[%{}]/g, encodeURIComponent)}}:offset`;
}

function badName(problem: string): OffsetsError {
  return new OffsetsError(
    'OFFSETS_CONFIG',
    `The pipeline's name ${problem}.`,
    'Give the pipeline another name.',
  );
}
