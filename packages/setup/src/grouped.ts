/** Rows by what they have in one column, in the order in which they came. */
export function grouped<T extends Readonly<Record<string, string | null>>>(
  rows: readonly T[],
  column: string,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const name = row[column] ?? '';
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return groups;
}
