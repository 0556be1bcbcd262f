import { graphileWorker } from '../kinds/graphile-worker.js';
import { idCursor } from '../kinds/id-cursor.js';
import { pgBoss } from '../kinds/pg-boss.js';
import { pgTransactionalOutbox, pgTransactionalOutboxPerKey } from '../kinds/pg-transactional-outbox.js';
import { skipLockedKeys, skipLockedRow } from '../kinds/skip-locked-keys.js';
import { skipLocked } from '../kinds/skip-locked.js';
import { strandlinePipeline } from '../kinds/strandline-pipeline.js';
import type { PeerKind } from './kind.js';

/** By a name that can be told to another process. */
export const KINDS = {
  strandline: strandlinePipeline,
  'pg-transactional-outbox': pgTransactionalOutbox,
  'pg-transactional-outbox-per-key': pgTransactionalOutboxPerKey,
  'graphile-worker': graphileWorker,
  'pg-boss': pgBoss,
  'id-cursor': idCursor,
  'skip-locked': skipLocked,
  'skip-locked-keys': skipLockedKeys,
  'skip-locked-row': skipLockedRow,
} as const satisfies Record<string, PeerKind>;

export type KindName = keyof typeof KINDS;
