import type { ValidOptions } from './options.js';

/** How long a server may take to answer our goodbye before the socket is destroyed, in milliseconds. */
export const disconnectTimeout = 200;

/** The longest that Redis may be silent while it works on a command of ours. */
export function answerTimeout(options: ValidOptions): number {
  return options.commandTimeout + (options.replicas?.timeout ?? 0);
}
