import { lowestReaderId } from '@strandline/servers';
import { randomInt } from 'node:crypto';

/** A server id for a reader of the binlog, that no server and no other test has. */
export function uniqueServerId(): number {
  return randomInt(lowestReaderId, 2 ** 31);
}
