import pg from 'pg';
import { uniqueName } from '@strandline/test-kit';

/** The slice of pg's connection that its types lack. */
interface CopyBoth {
  on(event: 'copyData', listener: (message: { readonly chunk: Buffer }) => void): void;
  once(event: 'replicationStart', listener: () => void): void;
  sendCopyFromChunk(chunk: Buffer): void;
}

/** A standby as the server knows it: it takes the log over the replication protocol, and says how far it has applied it. */
export class StoppableReplica implements AsyncDisposable {
  readonly name = uniqueName();
  readonly #client: pg.Client;
  readonly #connection: CopyBoth;
  #received = 0n;
  #applied = 0n;
  #still = false;

  static async follow(url: string): Promise<StoppableReplica> {
    const replica = new StoppableReplica(url);
    await replica.#start();
    return replica;
  }

  private constructor(url: string) {
    const physical = { replication: 'true' } as pg.ClientConfig;
    this.#client = new pg.Client({ connectionString: url, application_name: this.name, ...physical });
    this.#client.on('error', () => undefined);
    this.#connection = (this.#client as unknown as { readonly connection: CopyBoth }).connection;
  }

  /** Applies nothing more, and goes on receiving. */
  standStill(): void {
    this.#still = true;
  }

  goOn(): void {
    this.#still = false;
    this.#report();
  }

  [Symbol.asyncDispose](): Promise<void> {
    (
      this.#client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
    ).connection.stream.destroy();
    return Promise.resolve();
  }

  async #start(): Promise<void> {
    await this.#client.connect();
    const { rows } = await this.#client.query<{ xlogpos: string }>('IDENTIFY_SYSTEM');
    // It has what was there when it began: the server takes 0 for a standby that applies nothing.
    const [high = '0', low = '0'] = (rows[0]?.xlogpos ?? '').split('/');
    this.#received = (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
    this.#applied = this.#received;
    const started = new Promise<void>((resolve) => {
      this.#connection.once('replicationStart', resolve);
    });
    this.#connection.on('copyData', ({ chunk }) => {
      // XLogData has its start and the end of the log in front, a keepalive the latter.
      const end =
        chunk[0] === 0x77 ? chunk.readBigUInt64BE(1) + BigInt(chunk.length - 25) : chunk.readBigUInt64BE(1);
      if (end > this.#received) this.#received = end;
      this.#report();
    });
    this.#client.query(`START_REPLICATION PHYSICAL ${rows[0]?.xlogpos ?? ''}`).catch(() => undefined);
    await started;
    this.#report();
  }

  #report(): void {
    if (!this.#still) this.#applied = this.#received;
    const status = Buffer.alloc(34);
    status.write('r');
    status.writeBigUInt64BE(this.#received, 1);
    status.writeBigUInt64BE(this.#received, 9);
    status.writeBigUInt64BE(this.#applied, 17);
    this.#connection.sendCopyFromChunk(status);
  }
}
