/** One of several answers. */
export interface Answer<T> {
  readonly value: T;
  readonly label: string;
  /** What it means, or why it is proposed. */
  readonly hint?: string;
}

/** Whoever can be asked. Each question throws `CLI_CANCELLED` when the answer is Ctrl-C. */
export interface Asker {
  text(question: string, options?: TextOptions): Promise<string>;
  /** The first answer is proposed. */
  choose<T>(question: string, answers: readonly Answer<T>[]): Promise<T>;
  confirm(question: string): Promise<boolean>;
}

export interface TextOptions {
  readonly initial?: string;
  /** Not shown while it is typed. */
  readonly secret?: boolean;
  /** What is wrong with it; null when nothing is. */
  readonly check?: (text: string) => string | null;
}
