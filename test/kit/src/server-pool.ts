/** A server of the pool, whose users keep it running. */
export interface Lease<T> {
  readonly server: T;
  /** Safe to call twice. */
  readonly release: () => void;
}

interface Entry<T> {
  /** Rejects when it did not start: whoever asks for it is told so, and it is not tried again. */
  server: Promise<T>;
  users: number;
}

/**
 * Servers by name, started when somebody first asks for them, and at most so many at once: to make room, the one that
 * nobody has used for the longest time is stopped. While all are in use, who asks for another one waits.
 */
export class ServerPool<T extends AsyncDisposable> implements AsyncDisposable {
  readonly #limit: number;
  readonly #start: (name: string) => Promise<T>;
  readonly #tidy: (server: T) => Promise<void>;
  /** Those that were used last are last. */
  readonly #entries = new Map<string, Entry<T>>();
  #waiting: (() => void)[] = [];

  /** @param tidy what is done with a server that nobody uses before the next one has it. */
  constructor(
    limit: number,
    start: (name: string) => Promise<T>,
    tidy: (server: T) => Promise<void> = () => Promise.resolve(),
  ) {
    this.#limit = limit;
    this.#start = start;
    this.#tidy = tidy;
  }

  async lease(name: string): Promise<Lease<T>> {
    let entry = this.#entries.get(name) ?? this.#admit(name);
    while (entry === undefined) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      entry = this.#entries.get(name) ?? this.#admit(name);
    }
    const used = entry;
    if (used.users === 0) this.#tidied(used);
    used.users += 1;
    this.#entries.delete(name);
    this.#entries.set(name, used);
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      used.users -= 1;
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const wake of waiting) wake();
    };
    try {
      return { server: await used.server, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#entries.values()].map(stop));
  }

  /** Whoever asks in the meantime waits for it, too. */
  #tidied(entry: Entry<T>): void {
    entry.server = entry.server.then(async (server) => {
      await this.#tidy(server);
      return server;
    });
    entry.server.catch(() => undefined); // told to whoever asked for it
  }

  /** An entry for a server that has none; undefined when there is no room for it. */
  #admit(name: string): Entry<T> | undefined {
    let room = Promise.resolve();
    if (this.#entries.size >= this.#limit) {
      const idle = [...this.#entries].find(([, { users }]) => users === 0);
      if (idle === undefined) return undefined;
      this.#entries.delete(idle[0]);
      room = stop(idle[1]);
    }
    const server = room.then(() => this.#start(name));
    server.catch(() => undefined); // told to whoever asked for it
    const entry = { server, users: 0 };
    this.#entries.set(name, entry);
    return entry;
  }
}

async function stop<T extends AsyncDisposable>({ server }: Entry<T>): Promise<void> {
  const started = await server.catch(() => undefined);
  await started?.[Symbol.asyncDispose]();
}
