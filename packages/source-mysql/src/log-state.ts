import type { LogState, Position } from '@strandline/core';
import type { MysqlIdentity } from './identity.js';
import { LogFiles } from './log-files.js';
import { PositionOrder } from './position-order.js';
import { parseLogPosition, placePosition } from './position.js';
import { readLogEnd, readLogStart, type ServerFacts } from './server.js';
import type { Session } from './session.js';

/**
 * Where the binlog stands. The server keeps it for nobody: `retainedBytes` is all of it. Bytes behind can be told of
 * places in this server's files, which another one of the topology does not have.
 */
export async function readLogState(
  sql: Session,
  facts: ServerFacts,
  identity: MysqlIdentity,
): Promise<LogState> {
  const earliest = placePosition(facts.server, await readLogStart(sql, facts));
  const head = placePosition(facts.server, await readLogEnd(sql, facts));
  const files = await LogFiles.read(sql, facts.server);
  const order = new PositionOrder(facts.flavour);
  const compare = (a: Position, b: Position): number => order.compare(a, b);
  const end = parseLogPosition(head);
  return {
    identity,
    head,
    earliest,
    retainedBytes: files.bytes,
    compare,
    bytesBehind(position) {
      const place = parseLogPosition(position);
      if (place === null || end === null) return null;
      // The place of a whole transaction is its start, also when nothing lies behind it.
      return order.inLog(place, end) >= 0 ? 0 : files.bytesBetween(place, end);
    },
  };
}
