import { readFileSync } from 'node:fs';

/**
 * The most that this process has had resident, in MiB. What `getrusage` says would be wrong: on Linux a process begins
 * with the peak of the one that started it.
 */
export function peakMib(): number {
  return highWaterKib() / 1024;
}

function highWaterKib(): number {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN);
  } catch {
    // Not Linux.
    return process.resourceUsage().maxRSS;
  }
}
