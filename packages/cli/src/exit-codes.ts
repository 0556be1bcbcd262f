/**
 * What the exit code of `strandline` says to a supervisor. A second signal while pipelines drain ends with
 * 128 + the signal's number (130 for SIGINT, 143 for SIGTERM), as shells report it.
 */
export const exitCodes = Object.freeze({
  /** Every pipeline stopped cleanly: what was in flight has ended, and the offsets are saved. */
  stopped: 0,
  /** A pipeline could not start, or had to stop. A restart may help, once the cause is gone. */
  fault: 1,
  /** Wrong arguments or a wrong config: a restart does not help. What shells and getopt programs answer, too. */
  usage: 2,
  /** A replay was interrupted, and saved how far it came: the same command goes on. */
  interrupted: 3,
});

export const exitCodesHelp = `
Exit codes:
  0    every pipeline stopped cleanly
  1    a pipeline could not start, or had to stop: see the message
  2    wrong arguments, or a wrong config: a restart does not help
  130  ended at once by a second Ctrl-C while draining; 143 by a second SIGTERM
`;
