import { createHash } from 'node:crypto';
import { OffsetsError } from './errors.js';

/** File systems take at most 255 bytes for a name. */
const longest = 200;

/**
 * The name of a pipeline's directory. Lower-case letters, digits, `_` and `-` stay as they are; every other byte
 * of UTF-8 is percent-encoded, capitals too, since some file systems hold `Shop` and `shop` to be the same. A
 * long name is cut and told apart by its hash; `~` is in no encoded name.
 */
export function directoryName(pipeline: string): string {
  checkName(pipeline);
  const encoded = [...Buffer.from(pipeline)].map(encodeByte).join('');
  if (encoded.length <= longest) return encoded;
  return `${encoded.slice(0, 100)}~${createHash('sha256').update(pipeline).digest('hex')}`;
}

/** @throws OffsetsError `OFFSETS_CONFIG` for a name that could not be told from another one. */
export function checkName(pipeline: string): void {
  const isWhole = pipeline !== '' && !/\p{Surrogate}/u.test(pipeline);
  if (isWhole) return;
  const problem = pipeline === '' ? 'is empty' : 'is not valid Unicode';
  throw new OffsetsError(
    'OFFSETS_CONFIG',
    `The pipeline's name ${problem}.`,
    'Give the pipeline another name.',
  );
}

function encodeByte(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[a-z0-9_-]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0')}`;
}
