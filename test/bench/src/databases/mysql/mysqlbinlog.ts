import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { binlogTool, ServerError, type BinlogTool, type MysqlServer } from '@strandline/servers';
import type { Reader } from '../../readers/reader.js';
import { now, type Reading, type ReaderSettings } from '../../readers/reading.js';
import { ReadingRecord } from '../../readers/reading-record.js';
import { readBinlog } from './binlog-dump.js';

type Kind = MysqlServer['kind'];

const NAMES: Readonly<Record<Kind, string>> = { mysql: 'mysqlbinlog', mariadb: 'mariadb-binlog' };

/** Neither client checks a certificate here, and the library that is compared has a plain connection as well. */
const PLAIN_CONNECTION: Readonly<Record<Kind, readonly string[]>> = {
  mysql: ['ssl-mode=DISABLED', 'get-server-public-key'],
  mariadb: ['skip-ssl'],
};

/** The server's own reader of its log, which begins with the file `first`; null when it can't be had. */
export async function mysqlbinlogReader(kind: Kind, first: string): Promise<Reader | null> {
  const tool = await available(kind);
  if (tool === null) return null;
  const { file, args } = tool(['--version']);
  const { stdout } = await promisify(execFile)(file, [...args]);
  const version = /(?:Ver|from) (\d+(?:\.\d+)+)/.exec(stdout)?.[1] ?? '';
  return {
    name: `${NAMES[kind]} ${version}`,
    read: (settings) => readWithMysqlbinlog(settings, kind, tool, first),
  };
}

async function available(kind: Kind): Promise<BinlogTool | null> {
  try {
    return await binlogTool(kind);
  } catch (error) {
    if (error instanceof ServerError) return null;
    throw error;
  }
}

/**
 * Reads the log from its start to its end as the server sends it, undecoded, into a file: `--raw`. Its time is that of the
 * whole process, since it does not tell when it begins; the file is looked through when it has ended.
 */
async function readWithMysqlbinlog(
  settings: ReaderSettings,
  kind: Kind,
  tool: BinlogTool,
  first: string,
): Promise<Reading> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'strandline-bench-'));
  try {
    const options = path.join(directory, 'client.cnf');
    const dump = path.join(directory, 'dump-');
    await writeFile(options, connection(settings.url, kind), { mode: 0o600 });
    const startedAt = now();
    await run(kind, tool, [
      `--defaults-file=${options}`,
      ...['--read-from-remote-server', '--raw', '--to-last-log'],
      `--result-file=${dump}`,
      first,
    ]);
    const endedAt = now();
    const record = new ReadingRecord(settings);
    for (const file of (await readdir(directory)).filter((name) => name.startsWith('dump-')).sort())
      readBinlog(await readFile(path.join(directory, file)), record);
    return { ...record.reading(), startedAt, endedAt, cpu: NaN };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function run(kind: Kind, tool: BinlogTool, options: readonly string[]): Promise<void> {
  const { file, args } = tool(options);
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${NAMES[kind]} ended with ${String(code)}: ${complaint.trim()}`);
}

/** For a file, since everyone on the machine can read arguments. */
function connection(url: string, kind: Kind): string {
  const { hostname, port, username, password } = new URL(url);
  return [
    '[client]',
    `host="${hostname}"`,
    `port=${port || '3306'}`,
    `user="${decodeURIComponent(username)}"`,
    `password="${decodeURIComponent(password)}"`,
    ...PLAIN_CONNECTION[kind],
    '',
  ].join('\n');
}
