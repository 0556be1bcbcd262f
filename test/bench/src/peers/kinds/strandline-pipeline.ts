import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { definePipeline, fileOffsets, postgres } from 'strandline';
import { dropSlot } from '../../databases/postgres/slots.js';
import { QUIET } from '../../readers/pipeline-parts.js';
import type { PeerPlace } from '../peer.js';
import type { PeerKind } from '../process/kind.js';

const namesOf = ({ name }: PeerPlace): { slot: string; publication: string; offsets: string } => ({
  slot: `${name}_strandline`,
  publication: `${name}_strandline`,
  offsets: path.join(tmpdir(), `${name}-strandline-offsets`),
});

/** Strandline, where it is judged like everything else: a pipeline with its defaults and its offset in a file. */
export const strandlinePipeline: PeerKind = {
  name: 'strandline',
  goal: null,
  package: null,
  install: async (sql, place) => {
    const { slot, publication } = namesOf(place);
    await sql.query(
      `create publication ${publication} for table outbox with (publish = 'insert', publish_via_partition_root = true)`,
    );
    await sql.query("select pg_create_logical_replication_slot($1, 'pgoutput')", [slot]);
  },
  load: () => Promise.resolve(),
  uninstall: async (sql, place) => {
    const { slot, publication, offsets } = namesOf(place);
    await dropSlot(sql, slot);
    await sql.query(`drop publication ${publication}`);
    await rm(offsets, { recursive: true, force: true });
  },
  consume: async (place, handle) => {
    const { slot, publication, offsets } = namesOf(place);
    const outbox = { table: 'outbox', id: 'id', key: 'key', payload: 'payload' };
    const pipeline = definePipeline({
      name: slot,
      source: postgres({ url: place.url, outbox, slot, publication, create: false }),
      offsets: fileOffsets({ directory: offsets }),
      log: QUIET,
      handle: ({ id, key, payloadText }) => handle({ id, key, payload: payloadText ?? '' }),
    });
    await pipeline.start();
    return pipeline;
  },
};
