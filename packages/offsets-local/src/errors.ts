import { StrandlineError, type ErrorDetails } from '@strandline/core';

/**
 * The closed set of codes of this package.
 *
 * - `OFFSETS_UNAVAILABLE`: the disk is full, the directory is not writable, and the like. Try again.
 * - `OFFSETS_CORRUPT`: a file can't be read as an offset by this version. Stop.
 * - `OFFSETS_CONFIG`: wrong options, or a pipeline name that can't be stored. Stop.
 * - `OFFSETS_CLOSED`: used after `close()`.
 */
export type OffsetsErrorCode =
  'OFFSETS_UNAVAILABLE' | 'OFFSETS_CORRUPT' | 'OFFSETS_CONFIG' | 'OFFSETS_CLOSED';

/** An error of the file and the memory offset store. */
export class OffsetsError extends StrandlineError<OffsetsErrorCode> {
  override readonly name = 'OffsetsError';

  constructor(code: OffsetsErrorCode, problem: string, remedy: string, details: ErrorDetails = {}) {
    super(code, problem, remedy, { transient: code === 'OFFSETS_UNAVAILABLE', ...details });
  }
}

export function closedError(store: string): OffsetsError {
  return new OffsetsError(
    'OFFSETS_CLOSED',
    `The offset store ${store} is closed.`,
    'Make a new one: a closed store does not open again.',
  );
}

/** Says what a failed file operation means for the store. */
export function fileError(cause: unknown, path: string): OffsetsError {
  if (cause instanceof OffsetsError) return cause;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? String(cause);
  const details = { cause };
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new OffsetsError(
        'OFFSETS_UNAVAILABLE',
        `No space left to save the offset in ${path} (${code}).`,
        'Free some space. The offset saved before is intact; a running pipeline tries again by itself.',
        details,
      );
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new OffsetsError(
        'OFFSETS_UNAVAILABLE',
        `Not allowed to keep offsets in ${path} (${code}).`,
        'Give the user that runs this process the right to read and write there, or choose another `directory`.',
        details,
      );
    case 'ENOTDIR':
    case 'EEXIST':
    case 'ENAMETOOLONG':
      return new OffsetsError(
        'OFFSETS_CONFIG',
        `Offsets can't be kept in ${path}: it is no directory (${code}).`,
        'Choose another `directory` for fileOffsets.',
        details,
      );
    default:
      return new OffsetsError(
        'OFFSETS_UNAVAILABLE',
        `Offsets can't be read or written in ${path} (${code}).`,
        'Look at the disk and at the log of the system. The offset saved before is intact; a running pipeline tries again by itself.',
        details,
      );
  }
}
