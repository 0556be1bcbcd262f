import type { UnpackedPackages } from '../origins/debian-packages.js';
import type { Program } from '../process/unprivileged.js';
import type { LocalKind } from './mysql-kind.js';

/** The folders of one server, both its own. */
interface Folders {
  readonly data: string;
  readonly temporary: string;
}

/** The server's program, told where its packages were unpacked to: it was built to be installed at the root. */
export class MysqlBinaries {
  readonly packages: UnpackedPackages;
  readonly #kind: LocalKind;

  constructor(kind: LocalKind, packages: UnpackedPackages) {
    this.#kind = kind;
    this.packages = packages;
  }

  version(): Program {
    return this.packages.program(this.#kind.program, ['--version']);
  }

  server({ data, temporary }: Folders, args: readonly string[]): Program {
    const share = this.packages.path(this.#kind.share);
    return this.packages.program(this.#kind.program, [
      '--no-defaults', // the machine may have a configuration of such a server
      `--basedir=${this.packages.path('usr')}`,
      `--plugin-dir=${this.packages.path('usr/lib/mysql/plugin')}`,
      `--lc-messages-dir=${share}`,
      `--character-sets-dir=${share}/charsets`,
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
