interface OnTheWay {
  readonly due: number;
  readonly deliver: () => void;
}

/** One direction of a connection: what is put on it arrives in order, some time later. */
export class Wire {
  readonly #delay: () => number;
  #onTheWay: OnTheWay[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param delay milliseconds, as they are when something is put on it */
  constructor(delay: () => number) {
    this.#delay = delay;
  }

  carry(deliver: () => void): void {
    const delay = this.#delay();
    const last = this.#onTheWay.at(-1);
    if (delay === 0 && last === undefined) {
      deliver();
      return;
    }
    // A shorter delay than before must not let it overtake what is on the way.
    this.#onTheWay.push({ due: Math.max(performance.now() + delay, last?.due ?? 0), deliver });
    this.#arm();
  }

  /** Loses what is on the way. */
  cut(): void {
    this.#onTheWay = [];
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(): void {
    const [next] = this.#onTheWay;
    if (this.#timer !== undefined || next === undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#arrive();
        this.#arm();
      },
      Math.max(next.due - performance.now(), 0),
    );
  }

  #arrive(): void {
    const now = performance.now();
    for (let next = this.#onTheWay[0]; next !== undefined && next.due <= now; next = this.#onTheWay[0]) {
      this.#onTheWay.shift();
      next.deliver();
    }
  }
}
