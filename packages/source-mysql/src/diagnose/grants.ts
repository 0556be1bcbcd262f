/**
 * What the user may do, as SHOW GRANTS says it: `GRANT SELECT, LOCK TABLES ON "shop".* TO …`. Names come in the quotes of
 * the session or in backquotes, and may be patterns.
 */
export class Grants {
  readonly #lines: readonly { readonly privileges: ReadonlySet<string>; readonly on: string }[];
  /** Roles are granted that are not active, so that what they carry is not told. */
  readonly hasRoles: boolean;

  constructor(lines: readonly string[]) {
    const grants = lines.flatMap((line) => {
      const [, privileges = '', on = ''] = /^GRANT (.+?) ON (\S+) TO /i.exec(line) ?? [];
      return on === '' ? [] : [{ privileges: privilegesOf(privileges), on: on.replaceAll(/["`]/g, '') }];
    });
    this.#lines = grants;
    this.hasRoles = lines.some((line) => /^GRANT [`"'][^ ]* TO /i.test(line));
  }

  /** @param schema where it is needed; by default everywhere */
  has(privilege: string, schema?: string): boolean {
    return this.#lines.some(
      ({ privileges, on }) =>
        (privileges.has(privilege) || privileges.has('ALL PRIVILEGES')) &&
        (on === '*.*' || (schema !== undefined && on.endsWith('.*') && fits(on.slice(0, -2), schema))),
    );
  }
}

function privilegesOf(list: string): ReadonlySet<string> {
  return new Set(list.split(',').map((name) => name.trim().toUpperCase()));
}

/** `%` and `_` of a database's name in a grant are those of LIKE, unless they are escaped. */
function fits(pattern: string, schema: string): boolean {
  const expression = pattern
    .replaceAll(/[.*+?^${}()|[\]]/g, String.raw`\$&`)
    .replaceAll(/\\?[%_]/g, (sign) => (sign === '%' ? '.*' : sign === '_' ? '.' : sign.slice(1)));
  return new RegExp(`^${expression}$`, 'i').test(schema);
}
