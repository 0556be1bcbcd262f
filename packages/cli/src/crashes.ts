import { exitCodes } from './exit-codes.js';
import { describeError } from './print-error.js';

/**
 * What nobody caught ends the process at once, without a drain: the state is unknown, and what is not saved is
 * delivered again. Node would do the same; but it prints every field of the error, and a driver keeps
 * statements, parameters and passwords in those.
 */
export function endAtCrash(): void {
  // Unhandled rejections come this way, too.
  process.on('uncaughtException', (error: unknown) => {
    process.stderr.write(describeError(error, { verbose: true }));
    process.exit(exitCodes.fault);
  });
}
