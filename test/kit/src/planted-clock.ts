/**
 * The machine's clock as this process sees it: it can be put wrong. As with a real one, `Date` jumps, and timers and
 * `performance.now()` don't.
 */
export class PlantedClock {
  readonly right = Date.now.bind(Date);
  #ahead = 0;
  #isPlanted = false;

  /** @param milliseconds from the right time: positive is ahead, negative behind, 0 right again */
  set(milliseconds: number): void {
    this.#ahead = milliseconds;
    if (this.#isPlanted) return;
    this.#isPlanted = true;
    const now = (): number => this.right() + this.#ahead;
    globalThis.Date = new Proxy(Date, {
      construct: (date, args: unknown[], as) =>
        Reflect.construct(date, args.length === 0 ? [now()] : args, as) as object,
      apply: () => new Date(now()).toString(),
      get: (date, name) => (name === 'now' ? now : (Reflect.get(date, name) as unknown)),
    });
  }
}
