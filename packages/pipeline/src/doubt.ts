/** Whether the log may be another owner's by now: no handler starts while it may. */
export class Doubt {
  #inDoubt = false;
  #waiting: (() => void)[] = [];

  get inDoubt(): boolean {
    return this.#inDoubt;
  }

  set(inDoubt: boolean): void {
    this.#inDoubt = inDoubt;
    if (inDoubt) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }

  /** Resolves once there is none, or the signal aborts. */
  async over(signal: AbortSignal): Promise<void> {
    while (this.#inDoubt && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          signal.removeEventListener('abort', go);
          resolve();
        };
        this.#waiting.push(go);
        signal.addEventListener('abort', go);
      });
    }
  }
}
