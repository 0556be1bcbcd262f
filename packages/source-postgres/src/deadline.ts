/** Something that must have happened by then; its clock can stand still meanwhile. */
export class Deadline {
  /** Rejects once the time is over, with what `onPassed` made of it. */
  readonly passed: Promise<never>;
  readonly #milliseconds: number;
  #timer: NodeJS.Timeout | undefined;
  #pass: () => void = () => undefined;

  constructor(milliseconds: number, onPassed: () => Error) {
    this.#milliseconds = milliseconds;
    this.passed = new Promise((_, reject) => {
      this.#pass = () => {
        reject(onPassed());
      };
    });
    this.passed.catch(() => undefined);
  }

  /** From now on, all of the time. */
  start(): void {
    this.#timer = setTimeout(this.#pass, this.#milliseconds);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
