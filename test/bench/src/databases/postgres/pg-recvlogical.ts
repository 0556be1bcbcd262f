import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { now, type Reading, type ReaderSettings } from '../../readers/reading.js';
import { ReadingRecord } from '../../readers/reading-record.js';
import { PUBLICATION } from './outbox.js';
import { readDump } from './pgoutput-dump.js';

const PROGRAM = 'pg_recvlogical';

/** The version of Postgres' own reader, or null when there is none on the PATH. */
export async function pgRecvlogicalVersion(): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(PROGRAM, ['--version']);
    return /\d+(\.\d+)*/.exec(stdout)?.[0] ?? '';
  } catch {
    return null;
  }
}

/**
 * Reads a slot with pg_recvlogical into a file. Its time is that of the whole process, since it does not tell
 * when it begins; the file is looked through when it has ended.
 */
export async function readWithPgRecvlogical(settings: ReaderSettings, until: string): Promise<Reading> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'strandline-bench-'));
  try {
    const file = path.join(directory, 'dump');
    const startedAt = now();
    await run(settings, until, file);
    const endedAt = now();
    const record = new ReadingRecord(settings);
    readDump(await readFile(file), record);
    return { ...record.reading(), startedAt, endedAt, cpu: NaN, peakMib: NaN };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function run({ url, reader }: ReaderSettings, until: string, file: string): Promise<void> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const server = ['-h', hostname, '-p', port || '5432', '-U', decodeURIComponent(username), '-w'];
  const options = ['-o', 'proto_version=1', '-o', `publication_names=${PUBLICATION}`];
  const child = spawn(
    PROGRAM,
    [
      ...server,
      ...['-d', decodeURIComponent(pathname.slice(1)), '-S', reader, '--start', '--no-loop'],
      ...['--endpos', until, '--fsync-interval=0', '-f', file],
      ...options,
    ],
    {
      env: { ...process.env, PGPASSWORD: decodeURIComponent(password) },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${PROGRAM} ended with ${String(code)}: ${complaint.trim()}`);
}
