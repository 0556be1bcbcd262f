import type { RowsPerKey } from '../databases/bench-database.js';
import type { PeerReading } from './peer.js';

/**
 * What keeps a peer's speed from being printed: in a sentence, or null. It need not have seen all, as a slow one is
 * cut short; but what it saw has to be rows that are there.
 */
export function faultOf({ seen, faults, lastOrdinals }: PeerReading, rowsPerKey: RowsPerKey): string | null {
  const [first] = faults;
  if (first !== undefined) return first;
  if (seen === 0) return 'it saw no row';
  const beyond = lastOrdinals.findIndex((last, key) => last > (rowsPerKey[key] ?? 0));
  if (beyond < 0) return null;
  return `key ${String(beyond)}: row ${String(lastOrdinals[beyond])} came, and there are ${String(rowsPerKey[beyond] ?? 0)}`;
}
