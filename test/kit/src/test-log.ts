/** What was logged, for tests that look at it, and silence on the terminal. It fits Strandline's Logger. */
export class TestLog {
  readonly lines: { readonly level: string; readonly message: string; readonly fields: object }[] = [];

  readonly debug = this.#writer('debug');
  readonly info = this.#writer('info');
  readonly warn = this.#writer('warn');
  readonly error = this.#writer('error');

  child(): this {
    return this;
  }

  /** Whether a line with these words was logged. */
  has(words: string): boolean {
    return this.count(words) > 0;
  }

  /** How often one was. */
  count(words: string): number {
    return this.lines.filter(({ message }) => message.includes(words)).length;
  }

  #writer(level: string): (fields: object, message: string) => void {
    return (fields, message) => {
      this.lines.push({ level, message, fields });
    };
  }
}
