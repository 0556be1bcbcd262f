import {
  deadLetters,
  fileOffsets,
  memoryOffsets,
  redisOffsets,
  type DeadLetterStore,
  type Logger,
  type OffsetStore,
} from 'strandline';

export const OFFSETS = ['redis', 'file', 'memory'] as const;
export type OffsetsKind = (typeof OFFSETS)[number];

export type OffsetsSettings =
  | { readonly kind: 'redis'; readonly url: string }
  | { readonly kind: 'file'; readonly directory: string }
  | { readonly kind: 'memory' };

export function offsetsFor(offsets: OffsetsSettings): OffsetStore {
  switch (offsets.kind) {
    case 'redis':
      return redisOffsets({ url: offsets.url });
    case 'file':
      return fileOffsets({ directory: offsets.directory });
    case 'memory':
      return memoryOffsets();
  }
}

const nothing = (): void => undefined;

/** For a benchmark whose handlers fail because they shall. */
export const SILENT: Logger = {
  ...{ debug: nothing, info: nothing, warn: nothing, error: nothing },
  child: () => SILENT,
};

/** What goes wrong shows in the readings; a terminal full of log lines would cost time of its own. */
export const QUIET: Logger = {
  ...SILENT,
  error: (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
  child: () => QUIET,
};

/** A dead-letter table beside the outbox. */
export function lettersAt(url: string): DeadLetterStore {
  return deadLetters(url.startsWith('postgres') ? { postgres: { url } } : { mysql: { url } });
}
