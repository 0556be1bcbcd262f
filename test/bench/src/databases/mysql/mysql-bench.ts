import type { MysqlServer } from '@strandline/servers';
import type { Backlog, BacklogOptions, BenchDatabase } from '../bench-database.js';
import { MysqlBacklog } from './mysql-backlog.js';

/** MySQL or MariaDB, with the fixture's defaults: no commit waits for the disk there. */
export class MysqlBench implements BenchDatabase {
  readonly name: MysqlServer['kind'];
  readonly label: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly #server: MysqlServer;

  constructor(server: MysqlServer) {
    this.#server = server;
    this.name = server.kind;
    const number = /^[\d.]+/.exec(server.version)?.[0] ?? server.version;
    const product = server.kind === 'mysql' ? 'MySQL' : 'MariaDB';
    this.label = `${product} ${number}`;
    this.versions = { [product]: number };
  }

  createBacklog(options: BacklogOptions): Promise<Backlog> {
    return MysqlBacklog.create(this.#server, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}
