import path from 'node:path';
import type { Bookmark, BookmarkStore } from '@strandline/core';
import { z } from 'zod';
import { directoryName } from './pipeline-name.js';
import { checked, format, line, parse } from './record.js';
import { createWhole, namesIn, readWhole, removeFile } from './whole-files.js';

/** Runs work in the directory of a pipeline, one after the other. */
export type AtPipeline = <T>(pipeline: string, work: (directory: string) => Promise<T>) => Promise<T>;

const record = z.object({
  format: z.literal(format),
  pipeline: z.string(),
  name: z.string(),
  position: z.string(),
  identity: z.record(z.string(), z.string()),
  committedAt: z.string().nullable(),
  createdAt: z.string(),
});

/** A file per bookmark. */
export class FileBookmarks implements BookmarkStore {
  readonly #at: AtPipeline;

  constructor(at: AtPipeline) {
    this.#at = at;
  }

  list(pipeline: string): Promise<readonly Bookmark[]> {
    return this.#at(pipeline, async (directory) => {
      const files = (await namesIn(folderOf(directory)))
        .filter((name) => name.endsWith('.json'))
        .map((name) => path.join(folderOf(directory), name));
      const found = await Promise.all(files.map((file) => read(file, pipeline)));
      return found.filter((each) => each !== null).sort((a, b) => (a.name < b.name ? -1 : 1));
    });
  }

  get(pipeline: string, name: string): Promise<Bookmark | null> {
    return this.#at(pipeline, (directory) => read(fileOf(directory, name), pipeline));
  }

  create(pipeline: string, bookmark: Bookmark): Promise<'created' | 'exists'> {
    const { name, position, identity, committedAt, createdAt } = bookmark;
    const text = line({ format, pipeline, name, position, identity, committedAt, createdAt });
    return this.#at(pipeline, async (directory) =>
      (await createWhole(fileOf(directory, name), text)) ? 'created' : 'exists',
    );
  }

  delete(pipeline: string, name: string): Promise<boolean> {
    return this.#at(pipeline, (directory) => removeFile(fileOf(directory, name)));
  }
}

/** Null when it was deleted meanwhile. */
async function read(file: string, pipeline: string): Promise<Bookmark | null> {
  const text = await readWhole(file);
  if (text === undefined) return null;
  const { name, position, identity, committedAt, createdAt } = checked(
    record,
    parse(text, file),
    pipeline,
    file,
  );
  return { name, position, identity, committedAt, createdAt };
}

function folderOf(directory: string): string {
  return path.join(directory, 'bookmarks');
}

function fileOf(directory: string, name: string): string {
  return path.join(folderOf(directory), `${directoryName(name)}.json`);
}
