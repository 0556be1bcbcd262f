import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const PACKAGE = path.join(import.meta.dirname, '..', '..', 'package.json');
/** Dependencies that a figure depends on; the others are what Strandline brings along. */
const LIBRARIES = ['strandline', 'pg-logical-replication', '@vlasky/zongji'] as const;
const GIB = 1024 ** 3;

/** Where something was measured: a rate without it says nothing. */
export interface Machine {
  readonly cpu: string;
  /** As many as this process may use. */
  readonly cores: number;
  readonly memoryGib: number;
  readonly kernel: string;
  /** By name, such as `node` or `MySQL`. */
  readonly versions: Readonly<Record<string, string>>;
}

export async function describeMachine(servers: Readonly<Record<string, string>>): Promise<Machine> {
  return {
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    memoryGib: Math.round(os.totalmem() / GIB),
    kernel: `${os.type()} ${os.release()} ${os.arch()}`,
    versions: { node: process.versions.node, ...servers, ...(await libraryVersions()) },
  };
}

export function machineLines({ cpu, cores, memoryGib, kernel, versions }: Machine): string[] {
  return [
    `${cpu}, ${String(cores)} cores, ${String(memoryGib)} GiB; ${kernel}`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
  ];
}

/** They are pinned, so this workspace's own list of dependencies has them. */
async function libraryVersions(): Promise<Record<string, string>> {
  const { dependencies } = JSON.parse(await readFile(PACKAGE, 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return Object.fromEntries(LIBRARIES.map((name) => [name, dependencies[name] ?? 'unknown']));
}
