import { mariadbKind } from '../mariadb/mariadb.js';
import { reasonOf, ServerError } from '../errors.js';
import { unpackDebianPackages } from '../origins/debian-packages.js';
import { findOnPath } from '../process/run-program.js';
import type { Program } from '../process/unprivileged.js';
import type { MysqlKind } from './mysql-kind.js';
import { mysqlKind } from './mysql.js';

/** The server's own program that prints a binlog: how to start it with some arguments. */
export type BinlogTool = (args: readonly string[]) => Program;

/**
 * `mysqlbinlog` or `mariadb-binlog`, of the newest version that is tested, which reads the binlogs of the older ones and
 * over the network those of any server, be it in a container. It comes from Debian packages that are unpacked into the
 * project's cache, as the servers do without Docker (the image of MySQL does not have it); else from the PATH.
 *
 * @throws ServerError `SERVER_UNAVAILABLE` with the reason of each way.
 */
export async function binlogTool(kind: MysqlKind['kind']): Promise<BinlogTool> {
  const { local, versions, name } = kind === 'mysql' ? mysqlKind : mariadbKind;
  const { package: from, program } = local.binlogTool;
  try {
    const packages = await unpackDebianPackages([from], versions[0].debian?.suite);
    return (args) => packages.program(program, args);
  } catch (error) {
    const command = program.slice(program.lastIndexOf('/') + 1);
    const file = await findOnPath(command);
    if (file !== undefined) return (args) => ({ file, args });
    throw new ServerError(
      'SERVER_UNAVAILABLE',
      `No tool to read the binlog of ${name} with:\n- Debian packages: ${reasonOf(error)}\n- PATH: there is no ${command}`,
      `Install ${command}, or run on Debian where apt-get can download packages.`,
      error,
    );
  }
}
