/** An SQL identifier, exactly as given. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** An SQL string literal; standard_conforming_strings has been on by default since 9.1. */
export function quoteText(text: string): string {
  return text.includes('\\')
    ? ` E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
    : `'${text.replaceAll("'", "''")}'`;
}
