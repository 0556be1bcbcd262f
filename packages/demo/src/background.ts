/** Work that goes on beside the demo's main line. Its failure aborts `failed`; `stop` waits for its end. */
export class Background {
  readonly #stopping = new AbortController();
  readonly #failed = new AbortController();
  readonly #running: Promise<void>;

  constructor(run: (stopping: AbortSignal) => Promise<void>) {
    this.#running = run(this.#stopping.signal);
    this.#running.catch((error: unknown) => {
      this.#failed.abort(error);
    });
  }

  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** Throws what the work failed with. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}
