/** Stands in a statement where the password of the new role goes: no text that is printed ever holds one. */
export const PASSWORD = '<password>';

/** Something that the server lacks. */
export interface Step {
  /** A statement, or lines of a configuration; ready to copy, but for `PASSWORD`. */
  readonly text: string;
  readonly why: string;
  /** Null: a statement that this session may run. Otherwise who has to do it, or what it takes. */
  readonly by: string | null;
}

export function statement(text: string, why: string, by: string | null = null): Step {
  return { text, why, by };
}

/** Whether running it makes the role, and with it its password. */
export function hasPassword({ text }: Step): boolean {
  return text.includes(`'${PASSWORD}'`);
}

/** @param quoted the password as a literal of the server's SQL */
export function withPassword({ text }: Step, quoted: string): string {
  return text.replace(`'${PASSWORD}'`, () => quoted);
}
