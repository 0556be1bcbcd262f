/** A variable that the config reads. */
export interface Variable {
  readonly name: string;
  readonly value: string;
}

const ASSIGNED = (name: string): RegExp => new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=\\s*(.*?)\\s*$`, 'm');

/** What a variable is set to in the text of an env file, without quotes; null when it is not. */
export function valueIn(text: string, name: string): string | null {
  const value = ASSIGNED(name).exec(text)?.[1];
  if (value === undefined) return null;
  return /^(['"]).*\1$/.test(value) ? value.slice(1, -1) : value;
}

/** The text with the variables that it does not set yet at its end. Those that it sets are left as they are. */
export function withVariables(text: string, variables: readonly Variable[]): string {
  const missing = variables.filter(({ name }) => valueIn(text, name) === null);
  if (missing.length === 0) return text;
  const before = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return before + missing.map(({ name, value }) => `${name}=${shellText(value)}\n`).join('');
}

/** As a shell, `--dotenv` and Node read it. */
export function shellText(value: string): string {
  return /^[\w%+,./:=@^~-]*$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

/** A .gitignore that mentions the file; null when it does already. */
export function withIgnored(text: string, file: string): string | null {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  if (
    lines.some(
      (line) => line === file || line === `/${file}` || (line === '.env*' && file.startsWith('.env')),
    )
  )
    return null;
  return `${text === '' || text.endsWith('\n') ? text : `${text}\n`}${file}\n`;
}
