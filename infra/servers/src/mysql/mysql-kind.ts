import type { UnpackedPackages } from '../origins/debian-packages.js';

/** What MySQL and MariaDB do in ways of their own; the rest of this folder is the same for both. */
export interface MysqlKind {
  readonly kind: 'mysql' | 'mariadb';
  readonly name: string;
  /** Names a server of that kind in the environment. */
  readonly urlVariable: string;
  /** On top of `commonSettings`. */
  readonly settings: Readonly<Record<string, string>>;
  /** Global variables that a server from the environment must have. */
  readonly required: Readonly<Record<string, string>>;
  readonly image: string;
  /** The variable by which the image is told the superuser's password. */
  readonly imagePasswordVariable: string;
  readonly local: LocalKind;
  readonly replication: Replication;
}

/** The kind as Debian packages. */
export interface LocalKind {
  readonly package: string;
  /** The suite of Debian that has it. */
  readonly suite: string;
  /** By their paths in the package: the server, and the folder of its error messages and character sets. */
  readonly program: string;
  readonly share: string;
  /** Settings of local servers besides. In a container these are the image's business. */
  readonly settings: Readonly<Record<string, string>>;
  /** How the system tables are made: arguments of the server, and what it then reads from its standard input. */
  readonly initialisation: readonly string[];
  readonly initialStatements: (packages: UnpackedPackages) => Promise<string>;
  /** What a copy of the data must not have from the original. */
  readonly identityFile: string | undefined;
}

/** Where a replica finds its source. */
export interface SourceAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** The statements of replication by GTID. */
export interface Replication {
  /** Makes a fresh server a replica, read-only, and starts it. Values are escaped already. */
  readonly follow: (source: SourceAddress) => readonly string[];
  /** One value: all that the server has executed. */
  readonly executed: string;
  /** With such a value and seconds as parameters; one value, 0 when the server has it all. */
  readonly wait: string;
  readonly promote: readonly string[];
}
