/** The slice of a schema library's issue that is needed to describe it; zod's fits. */
export interface ConfigIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

const SECRET = /url|password|connection|secret|token|cert/i;
const LONGEST_VALUE = 80;

/**
 * Says what is wrong with a config, one sentence per issue: the field, its value, the rule. Values that may
 * hold a credential, by their field or by their look, are left out.
 */
export function describeConfigIssues(root: string, config: unknown, issues: readonly ConfigIssue[]): string {
  return issues.map((issue) => describe(root, config, issue)).join(' ');
}

function describe(root: string, config: unknown, issue: ConfigIssue): string {
  const field = [root, ...issue.path.map(String)].join('.');
  const value = valueAt(config, issue.path);
  const secret =
    issue.path.some((part) => SECRET.test(String(part))) ||
    // A connection string in the wrong place.
    (typeof value === 'string' && value.includes('://'));
  const shown = secret && value !== undefined ? 'a value that is not shown' : printed(value);
  return `${field} is ${shown}: ${issue.message.replace(/\.?$/, '.')}`;
}

function valueAt(config: unknown, path: readonly PropertyKey[]): unknown {
  let value = config;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}

function printed(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  // Numbers such as NaN and Infinity have no JSON.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}
