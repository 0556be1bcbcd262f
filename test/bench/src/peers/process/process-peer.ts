import pg from 'pg';
import type { Peer, PeerPlace, PeerProcess, PeerTask } from '../peer.js';
import type { PeerKind } from './kind.js';
import { KINDS, type KindName } from './kinds.js';
import { NodePeerProcess } from './node-peer-process.js';
import { installPackages, versionOf } from './packages.js';

/** A peer that runs in a Node process of its own. */
export class ProcessPeer implements Peer {
  readonly #kindName: KindName;
  readonly #kind: PeerKind;

  constructor(kind: KindName) {
    this.#kindName = kind;
    this.#kind = KINDS[kind];
  }

  get name(): string {
    return this.#kind.name;
  }

  get goal(): number | null {
    return this.#kind.goal;
  }

  get most(): number {
    return this.#kind.most ?? Infinity;
  }

  async obtain(progress: (text: string) => void): Promise<string | null> {
    if (this.#kind.package === null) return null;
    try {
      await installPackages(progress);
      return null;
    } catch (error) {
      const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      return `${this.name} is left out, its package could not be installed: ${reason}`;
    }
  }

  version(): Promise<string> {
    return this.#kind.package === null ? Promise.resolve('') : versionOf(this.#kind.package);
  }

  install(place: PeerPlace): Promise<void> {
    return withClient(place, (sql) => this.#kind.install(sql, place));
  }

  load(place: PeerPlace): Promise<void> {
    return withClient(place, (sql) => this.#kind.load(sql, place));
  }

  uninstall(place: PeerPlace): Promise<void> {
    return withClient(place, (sql) => this.#kind.uninstall(sql, place));
  }

  start(place: PeerPlace, task: PeerTask): PeerProcess {
    return new NodePeerProcess({ what: 'start', kind: this.#kindName, place, task });
  }
}

async function withClient<T>({ url }: PeerPlace, work: (sql: pg.Client) => Promise<T>): Promise<T> {
  const sql = new pg.Client({ connectionString: url });
  await sql.connect();
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
