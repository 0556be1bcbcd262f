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
  /** The release series that are tested, the newest first: it is the one that is meant where none is named. */
  readonly versions: readonly [MysqlVersion, ...MysqlVersion[]];
  /** Without its tag, which is the version. */
  readonly image: string;
  /** The variable by which the image is told the superuser's password. */
  readonly imagePasswordVariable: string;
  readonly local: LocalKind;
  readonly replication: Replication;
}

/** A release series. */
export interface MysqlVersion {
  /** As in `8.4`: the image's tag, and how the server's own word for its version begins. */
  readonly version: string;
  /** How it is to be had without Docker, if it is. */
  readonly debian?: DebianVersion;
}

export interface DebianVersion {
  /** The suite of Debian that has it. */
  readonly suite: string;
  /** By its path in the package: the folder of its error messages and character sets. */
  readonly share: string;
}

/** The kind as Debian packages. */
export interface LocalKind {
  readonly package: string;
  /** The server, by its path in the package. */
  readonly program: string;
  /** What prints binlogs, by its package and its path in there. */
  readonly binlogTool: { readonly package: string; readonly program: string };
  /** Settings of local servers besides. In a container these are the image's business. */
  readonly settings: Readonly<Record<string, string>>;
  /** How the system tables are made: arguments of the server, and what it then reads from its standard input. */
  readonly initialisation: readonly string[];
  /** @param share where that folder was unpacked to */
  readonly initialStatements: (share: string) => Promise<string>;
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

/** The series of a server that has said its version; undefined for one that is none of the tested. */
export function seriesOf(kind: MysqlKind, version: string): string | undefined {
  return kind.versions.find((series) => version.startsWith(`${series.version}.`))?.version;
}
