const FAULTS_KEPT = 3;

/** Watches that no key has two handlers at once; costs some nanoseconds an event. */
export class InFlight {
  readonly faults: string[] = [];
  readonly #running: Uint8Array;

  constructor(keys: number) {
    this.#running = new Uint8Array(keys);
  }

  begin(key: number): void {
    if (this.#running[key] === 1 && this.faults.length < FAULTS_KEPT)
      this.faults.push(`key ${String(key)}: two handlers at once`);
    this.#running[key] = 1;
  }

  end(key: number): void {
    this.#running[key] = 0;
  }
}
