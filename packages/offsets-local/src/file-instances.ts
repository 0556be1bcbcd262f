import path from 'node:path';
import type { InstanceRegister, InstanceReport } from '@strandline/core';
import { z } from 'zod';
import type { AtPipeline } from './file-bookmarks.js';
import { directoryName } from './pipeline-name.js';
import { checked, format, line, parse } from './record.js';
import { namesIn, readWhole, removeFile, writeWhole } from './whole-files.js';

const record = z.object({
  format: z.literal(format),
  pipeline: z.string(),
  /** By the clock of the machine, which all of them share. */
  holdsUntil: z.number(),
  report: z.object({
    id: z.string(),
    host: z.string(),
    pid: z.int(),
    state: z.string(),
    epoch: z.int().nullable(),
    startedAt: z.string(),
    reportedAt: z.string(),
    details: z.unknown(),
  }),
});

/** A file per process. */
export class FileInstances implements InstanceRegister {
  readonly #at: AtPipeline;

  constructor(at: AtPipeline) {
    this.#at = at;
  }

  report(pipeline: string, report: InstanceReport, ttl: number): Promise<void> {
    const now = Date.now();
    const text = line({ format, pipeline, holdsUntil: now + ttl, report });
    return this.#at(pipeline, async (directory) => {
      await writeWhole(fileOf(directory, report.id), text);
      for (const file of await filesOf(directory)) {
        // What can't be read is cleared away too: whoever wrote it says it again soon, if it is still there.
        const held = await read(file, pipeline).catch(() => 'unreadable' as const);
        if (held === 'unreadable' || (held !== null && held.holdsUntil <= now)) await removeFile(file);
      }
    });
  }

  leave(pipeline: string, id: string): Promise<void> {
    return this.#at(pipeline, async (directory) => {
      await removeFile(fileOf(directory, id));
    });
  }

  list(pipeline: string): Promise<readonly InstanceReport[]> {
    return this.#at(pipeline, async (directory) => {
      const now = Date.now();
      const files = await filesOf(directory);
      const held = await Promise.all(files.map((file) => read(file, pipeline)));
      return held.flatMap((each) => (each !== null && each.holdsUntil > now ? [each.report] : []));
    });
  }
}

/** Null when it has left meanwhile. */
async function read(file: string, pipeline: string): Promise<z.infer<typeof record> | null> {
  const text = await readWhole(file);
  return text === undefined ? null : checked(record, parse(text, file), pipeline, file);
}

async function filesOf(directory: string): Promise<string[]> {
  const folder = folderOf(directory);
  const names = await namesIn(folder);
  return names.filter((name) => name.endsWith('.json')).map((name) => path.join(folder, name));
}

function folderOf(directory: string): string {
  return path.join(directory, 'instances');
}

function fileOf(directory: string, id: string): string {
  return path.join(folderOf(directory), `${directoryName(id)}.json`);
}
