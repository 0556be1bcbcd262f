const MIB = 1024 * 1024;

/** What is in use after a collection, in MiB. The process has to be started with `--expose-gc`, as all jobs are. */
export function heapMib(): number {
  // What the first one frees can set finalisers going, whose objects only the second one takes away.
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / MIB;
}

export function residentMib(): number {
  return process.memoryUsage.rss() / MIB;
}
