import type { BookmarkDesk, BookmarkView } from '@strandline/pipeline';
import { confirm } from '../confirm.js';
import { cliError, type CliError } from '../errors.js';
import type { PipelineOptions } from '../options.js';
import type { parsePlace } from '../place.js';
import { written, type Streams } from '../streams.js';
import { amount, json, printable, table } from '../text.js';
import { bytesText } from '../units.js';

/** What a command works with: the bookmarks of one pipeline, and where its answer goes. */
export interface AtBookmarks {
  readonly pipeline: string;
  readonly desk: BookmarkDesk;
  readonly streams: Streams;
}

export interface CreateOptions extends PipelineOptions {
  readonly at?: ReturnType<typeof parsePlace>;
}

export interface DeleteOptions extends PipelineOptions {
  readonly yes?: true;
}

const HEAD = ['NAME', 'CREATED AT', 'LOG BEHIND', 'POSITION'];

export async function create(
  { pipeline, desk, streams }: AtBookmarks,
  name: string,
  options: CreateOptions,
): Promise<void> {
  const bookmark = await desk.create(name, options.at);
  await written(
    streams.stdout,
    options.json === true
      ? json({ pipeline, bookmark })
      : `${bookmark.name} is ${printable(bookmark.position)} of ${pipeline}\n`,
  );
}

export async function list(
  { pipeline, desk, streams }: AtBookmarks,
  options: PipelineOptions,
): Promise<void> {
  const bookmarks = await desk.list();
  const rows = bookmarks.length === 0 ? '' : table([HEAD, ...bookmarks.map(row)]);
  await written(
    streams.stdout,
    options.json === true
      ? json({ pipeline, bookmarks })
      : `${rows}${pipeline}: ${amount(bookmarks.length, 'bookmark')}\n`,
  );
}

/** Throws `CLI_NOTHING_FOUND`. */
export async function show(
  { pipeline, desk, streams }: AtBookmarks,
  name: string,
  options: PipelineOptions,
): Promise<void> {
  const bookmark = await desk.show(name);
  if (bookmark === null) throw noBookmark(pipeline, name);
  const { position, identity, committedAt, createdAt } = bookmark;
  const fields = [
    ['name', bookmark.name],
    ['pipeline', pipeline],
    ['position', position],
    ...(committedAt === null ? [] : [['committed at', committedAt]]),
    ['created at', createdAt],
    ['log behind', reachText(bookmark)],
    ...Object.entries(identity),
  ];
  await written(
    streams.stdout,
    options.json === true
      ? json({ pipeline, bookmark })
      : table(fields.map((pair) => pair.map((text) => printable(text)))),
  );
}

/** Throws `CLI_NOTHING_FOUND`. */
export async function remove(
  { pipeline, desk, streams }: AtBookmarks,
  name: string,
  { yes, json: asJson }: DeleteOptions,
): Promise<void> {
  await confirm(`Delete the bookmark ${printable(name)} of ${pipeline}?`, yes, streams);
  if (!(await desk.delete(name))) throw noBookmark(pipeline, name);
  await written(
    streams.stdout,
    asJson === true ? json({ pipeline, deleted: name }) : `${name} of ${pipeline} deleted\n`,
  );
}

function row(bookmark: BookmarkView): string[] {
  const { name, createdAt, position } = bookmark;
  return [name, createdAt, reachText(bookmark), position].map(printable);
}

/** The bytes of log that it takes to have the bookmark reachable, or that it is not any more. */
function reachText({ bytes, reachable }: BookmarkView): string {
  if (reachable === false) return 'gone';
  return bytes === null ? '?' : bytesText(bytes);
}

function noBookmark(pipeline: string, name: string): CliError {
  return cliError(
    'CLI_NOTHING_FOUND',
    `The pipeline ${pipeline} has no bookmark by the name ${printable(name)}.`,
    'strandline bookmark list tells the names.',
  );
}
