import { CHUNK } from './chunks.js';
import type { Session, Value } from './dialect.js';
import type { Conditions } from './filter.js';
import { marks } from './insert.js';
import type { Tables } from './tables.js';

/**
 * Changes all letters that fit, so that they no longer do. A statement for each few: one for 100,000 letters takes
 * longer than a statement may. Tells how many there were.
 *
 * @param change the assignments, with `?` for `values`
 */
export async function changeAll(
  session: Session,
  { letters }: Tables,
  pipeline: number,
  fits: Conditions,
  change: string,
  values: readonly Value[] = [],
): Promise<number> {
  for (let all = 0; ;) {
    const { rows } = await session.run(
      `select l.id from ${letters} l where l.pipeline = ?${fits.sql} limit ?`,
      [pipeline, ...fits.values, 5 * CHUNK],
    );
    if (rows.length === 0) return all;
    const ids = rows.map((row) => String(row['id']));
    await session.run(`update ${letters} set ${change} where id in (${marks(ids.length)})`, [
      ...values,
      ...ids,
    ]);
    all += ids.length;
  }
}
