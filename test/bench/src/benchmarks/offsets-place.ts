import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startRedis } from '@strandline/servers';
import type { OffsetsKind } from '../arguments.js';
import type { OffsetsSettings } from '../readers/pipeline-parts.js';

/** Where the pipelines of a run keep their offsets; gone when it is disposed of. */
export interface OffsetsPlace extends AsyncDisposable {
  readonly settings: OffsetsSettings;
}

export async function openOffsetsPlace(kind: OffsetsKind): Promise<OffsetsPlace> {
  switch (kind) {
    case 'redis': {
      const redis = await startRedis({ exclusive: true });
      return {
        settings: { kind, url: redis.url },
        [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
      };
    }
    case 'file': {
      const directory = await mkdtemp(path.join(os.tmpdir(), 'strandline-bench-offsets-'));
      return {
        settings: { kind, directory },
        [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
      };
    }
    case 'memory':
      return { settings: { kind }, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
}
