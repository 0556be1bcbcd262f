import { reasonOf, ServerError } from '../errors.js';
import { unpackDebianPackages } from '../origins/debian-packages.js';
import { findOnPath } from '../process/run-program.js';
import type { Program } from '../process/unprivileged.js';

/** Prometheus' own program that checks and tests its rules: how to start it with some arguments. */
export type Promtool = (args: readonly string[]) => Program;

/**
 * `promtool`, from Debian's package of Prometheus (19 MB, unpacked into the project's cache), else from the PATH.
 *
 * @throws ServerError `SERVER_UNAVAILABLE` with the reason of each way.
 */
export async function promtool(): Promise<Promtool> {
  try {
    const packages = await unpackDebianPackages(['prometheus']);
    return (args) => packages.program('usr/bin/promtool', args);
  } catch (error) {
    const file = await findOnPath('promtool');
    if (file !== undefined) return (args) => ({ file, args });
    throw new ServerError(
      'SERVER_UNAVAILABLE',
      `No promtool with:\n- Debian packages: ${reasonOf(error)}\n- PATH: there is none`,
      'Install Prometheus, or run on Debian where apt-get can download packages.',
      error,
    );
  }
}
