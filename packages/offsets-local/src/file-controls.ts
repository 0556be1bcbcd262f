import path from 'node:path';
import { NO_CONTROLS, type Controls, type ControlStore } from '@strandline/core';
import { z } from 'zod';
import type { AtPipeline } from './file-bookmarks.js';
import { checked, format, line, parse } from './record.js';
import { createWhole, namesIn, readWhole, removeFile } from './whole-files.js';

const order = { by: z.string(), at: z.string(), note: z.string() };

const record = z.object({
  format: z.literal(format),
  pipeline: z.string(),
  revision: z.int().min(1),
  paused: z.object(order).nullable(),
  held: z.array(z.object({ key: z.string(), ...order })),
});

/**
 * A file per revision, of which the newest one counts. The file system lets only one process make it, so of several
 * that have read the same revision one gets the next; and whether there is a newer one is told by the names alone.
 */
export class FileControls implements ControlStore {
  readonly #at: AtPipeline;

  constructor(at: AtPipeline) {
    this.#at = at;
  }

  load(pipeline: string): Promise<Controls> {
    return this.#at(pipeline, (directory) => newest(directory, pipeline));
  }

  newer(pipeline: string, revision: number): Promise<Controls | null> {
    return this.#at(pipeline, async (directory) =>
      lastOf(await revisionsIn(directory)) === revision ? null : newest(directory, pipeline),
    );
  }

  change(
    pipeline: string,
    read: Controls,
    { paused, held }: Pick<Controls, 'paused' | 'held'>,
  ): Promise<Controls | null> {
    return this.#at(pipeline, async (directory) => {
      if (lastOf(await revisionsIn(directory)) !== read.revision) return null;
      const next = { revision: read.revision + 1, paused, held };
      const file = fileOf(directory, next.revision);
      if (!(await createWhole(file, line({ format, pipeline, ...next })))) return null;
      const revisions = await revisionsIn(directory);
      // Others have gone on since, from this one or, if it had been cleared away, past it: who asks looks again.
      if (lastOf(revisions) !== next.revision) return null;
      for (const former of revisions) if (former < next.revision) await removeFile(fileOf(directory, former));
      return next;
    });
  }
}

async function newest(directory: string, pipeline: string): Promise<Controls> {
  for (;;) {
    const revision = lastOf(await revisionsIn(directory));
    if (revision === 0) return NO_CONTROLS;
    const file = fileOf(directory, revision);
    const text = await readWhole(file);
    // There is a newer one by now, or its maker would not have cleared this one away.
    if (text === undefined) continue;
    const { paused, held } = checked(record, parse(text, file), pipeline, file);
    return { revision, paused, held };
  }
}

async function revisionsIn(directory: string): Promise<number[]> {
  const names = await namesIn(folderOf(directory));
  return names.flatMap((name) => {
    const digits = /^(\d{1,15})\.json$/.exec(name)?.[1];
    return digits === undefined ? [] : [Number(digits)];
  });
}

function lastOf(revisions: readonly number[]): number {
  return Math.max(0, ...revisions);
}

function folderOf(directory: string): string {
  return path.join(directory, 'controls');
}

function fileOf(directory: string, revision: number): string {
  return path.join(folderOf(directory), `${String(revision)}.json`);
}
