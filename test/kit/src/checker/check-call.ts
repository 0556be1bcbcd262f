import type { CallEntry } from './call-entry.js';
import type { Placed } from './commit-order.js';
import type { Room } from './room.js';
import type { TermOfKey } from './term-of-key.js';

/** Looks for what makes a call a stray, whatever its order is. Gives the rows of the key that it is for. */
export function checkCall(room: Room, state: TermOfKey, call: CallEntry): Placed[] {
  const { key, order, findings } = room;
  const stray = (ids: readonly string[], says: string, ...entries: (CallEntry | undefined)[]): void => {
    const rows = ids.map((id) => order.row(id));
    findings.add('strays', { key, ids, says: `${says}.`, rows, entries: [...entries, call] });
  };
  const rows = new Map<string, Placed>();
  for (const [index, id] of call.ids.entries()) {
    const row = order.row(id);
    const position = call.positions[index] ?? '';
    const place = room.options.placeOf?.(position) ?? position;
    if (row === undefined) stray([id], `${id} is called and has not committed`);
    else if (row.key !== key)
      stray([id], `${id} has committed under the key ${row.key} and is called under ${key}`);
    else if (rows.has(id)) stray([id], `${id} is there twice in one call`);
    else rows.set(id, row);
    if (row?.position !== undefined && row.position !== place)
      stray([id], `${id} lies at ${row.position} and is called with ${position}`);
  }
  const before = state.failed.get(call.ids[0] ?? '');
  if (before === undefined) {
    if (call.attempt !== 1)
      stray(call.ids, `attempt ${String(call.attempt)} comes without a failure before it`);
  } else if (before.ids.join() !== call.ids.join()) {
    stray(
      call.ids,
      `${call.ids.join(', ')} is called after ${before.ids.join(', ')} had failed together`,
      before,
    );
  } else if (call.attempt !== before.attempt + 1) {
    stray(call.ids, `attempt ${String(call.attempt)} follows attempt ${String(before.attempt)}`, before);
  }
  return [...rows.values()];
}
