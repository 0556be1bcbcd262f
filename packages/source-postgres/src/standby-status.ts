import type { Lsn } from './lsn.js';
import { toPostgresMicros } from './timestamps.js';

/**
 * The standby status update of the streaming replication protocol
 * (https://www.postgresql.org/docs/current/protocol-replication.html): 'r', three LSNs, a time, a flag.
 *
 * `flushed` is reported exactly. When two transactions commit back to back, the second's commit record starts exactly
 * at the end of the first's: one byte more (as pg-logical-replication reports) makes the server skip it for good.
 *
 * @param requestReply ask the server for a keepalive: the proof that the connection lives
 */
export function standbyStatus(flushed: Lsn, requestReply: boolean, unixMillis: number): Buffer {
  const message = Buffer.allocUnsafe(34);
  message[0] = 0x72; // r
  message.writeBigUInt64BE(flushed, 1); // written
  message.writeBigUInt64BE(flushed, 9); // flushed: what the slot is confirmed up to
  message.writeBigUInt64BE(flushed, 17); // applied
  message.writeBigInt64BE(toPostgresMicros(unixMillis), 25);
  message[33] = requestReply ? 1 : 0;
  return message;
}
