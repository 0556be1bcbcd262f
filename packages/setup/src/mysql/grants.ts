/** What a user may do, read out of `show grants`. */
export interface Grants {
  /** Upper-case privileges by what they are on, as the server writes it without quotes: `*.*`, `shop.*`, `shop.outbox`. */
  readonly on: ReadonlyMap<string, ReadonlySet<string>>;
  /** May hand on what it has everywhere. */
  readonly mayGrant: boolean;
}

const LINE = /^GRANT (.+?) ON (?:TABLE )?(.+?) TO .+?( WITH GRANT OPTION)?$/i;

/** One privilege under two names: MariaDB has renamed it. */
const SAME: Readonly<Record<string, string>> = { 'BINLOG MONITOR': 'REPLICATION CLIENT' };

/** Lines of `show grants`; those of roles and of columns are left out. */
export function parseGrants(lines: readonly string[]): Grants {
  const on = new Map<string, Set<string>>();
  let mayGrant = false;
  for (const line of lines) {
    const [, privileges, target, grantOption] = LINE.exec(line) ?? [];
    if (privileges === undefined || target === undefined) continue;
    const place = unquoted(target);
    const set = on.get(place) ?? new Set();
    for (const privilege of privileges.split(/,\s*(?![^(]*\))/)) {
      const name = privilege
        .trim()
        .toUpperCase()
        .replace(/ PRIVILEGES$/, '');
      if (!name.includes('(')) set.add(SAME[name] ?? name);
    }
    on.set(place, set);
    if (place === '*.*' && / WITH .*GRANT OPTION/i.test(grantOption ?? line)) mayGrant = true;
  }
  return { on, mayGrant };
}

/** Which of these the user lacks there, be it by a grant on the table, on its database or on everything. */
export function lacking(
  { on }: Grants,
  privileges: readonly string[],
  place: { readonly schema: string; readonly name: string } | 'everywhere',
): string[] {
  const places =
    place === 'everywhere' ? ['*.*'] : ['*.*', `${place.schema}.*`, `${place.schema}.${place.name}`];
  const sets = places.flatMap((name) => on.get(name) ?? []);
  return privileges.filter((privilege) => {
    const name = privilege.toUpperCase();
    return !sets.some((set) => set.has('ALL') || set.has(name));
  });
}

/** `` `shop`.`outbox` `` is shop.outbox; in the name of a whole database `_` and `%` are escaped. */
function unquoted(target: string): string {
  return target.replaceAll('`', '').replaceAll(/\\([_%])/g, '$1');
}
