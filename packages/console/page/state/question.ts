import { signal } from '@preact/signals';

/** Something that somebody is asked before it is done. */
export interface Question {
  readonly title: string;
  /** What follows from it, a sentence each. */
  readonly text: readonly string[];
  readonly confirm: string;
  readonly danger: boolean;
  /** Whether a note may be left with it. */
  readonly note: boolean;
}

/** The note; null when it is not to be done. */
type Answered = (note: string | null) => void;

export const question = signal<(Question & { readonly answered: Answered }) | null>(null);

/** Asks; answers the note, which may be empty, or null when somebody thinks better of it. */
export function askFirst(asked: Question): Promise<string | null> {
  question.value?.answered(null);
  return new Promise((resolve) => {
    question.value = {
      ...asked,
      answered: (note) => {
        question.value = null;
        resolve(note);
      },
    };
  });
}
