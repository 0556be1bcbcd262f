import type { UnpackedPackages } from '../origins/debian-packages.js';
import type { Program } from '../process/unprivileged.js';
import type { DebianVersion, LocalKind } from './mysql-kind.js';

/** The folders of one server, both its own. */
interface Folders {
  readonly data: string;
  readonly temporary: string;
}

/** The server's program, told where its packages were unpacked to: it was built to be installed at the root. */
export class MysqlBinaries {
  /** The folder of error messages, character sets and statements for the system tables. */
  readonly share: string;
  readonly #kind: LocalKind;
  readonly #packages: UnpackedPackages;

  constructor(kind: LocalKind, { share }: DebianVersion, packages: UnpackedPackages) {
    this.#kind = kind;
    this.#packages = packages;
    this.share = packages.path(share);
  }

  version(): Program {
    return this.#packages.program(this.#kind.program, ['--version']);
  }

  server({ data, temporary }: Folders, args: readonly string[]): Program {
    return this.#packages.program(this.#kind.program, [
      '--no-defaults', // the machine may have a configuration of such a server
      `--basedir=${this.#packages.path('usr')}`,
      `--plugin-dir=${this.#packages.path('usr/lib/mysql/plugin')}`,
      `--lc-messages-dir=${this.share}`,
      `--character-sets-dir=${this.share}/charsets`,
      `--datadir=${data}`,
      `--tmpdir=${temporary}`,
      // Below the data directory, as which the server runs: the path to a checkout may be longer than a socket's may be.
      '--socket=server.sock',
      '--pid-file=server.pid',
      '--secure-file-priv=',
      // The kernel's asynchronous requests are few for all processes together, and denied in some containers.
      '--innodb-use-native-aio=OFF',
      ...args,
    ]);
  }
}
