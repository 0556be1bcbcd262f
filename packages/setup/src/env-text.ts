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
  return before + missing.map(({ name, value }) => `${name}=${envText(value)}\n`).join('');
}

const PLAIN = /^[\w%+,./:=@^~-]*$/;

/**
 * A URL, or a secret in base64, as a shell and Node's `parseEnv` (`--dotenv`) both read it: the one knows no quote within
 * single quotes, the other not how to go round that, and in a URL there is another way to write it.
 */
function envText(value: string): string {
  return PLAIN.test(value) ? value : `'${value.replaceAll("'", '%27')}'`;
}

/** A word as a shell reads it. */
export function shellText(value: string): string {
  return PLAIN.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

/** A .gitignore by which git leaves the file out; null when it does already. Of its lines the last one that fits decides. */
export function withIgnored(text: string, file: string): string | null {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const ignoring = lines.findLastIndex(
    (line) => line === file || line === `/${file}` || (line === '.env*' && file.startsWith('.env')),
  );
  // What a pattern fits is not worked out: one line too many does no harm.
  const including = lines.findLastIndex(
    (line) => line.startsWith('!') && (line.includes(file) || /[*?[]/.test(line)),
  );
  if (ignoring > including) return null;
  return `${text === '' || text.endsWith('\n') ? text : `${text}\n`}${file}\n`;
}
