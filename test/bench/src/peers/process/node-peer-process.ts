import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import type { PeerProcess, PeerReading } from '../peer.js';
import type { FromPeer, ToPeer } from './messages.js';

const SCRIPT = path.join(import.meta.dirname, 'peer-process-main.js');
const LOG_TAIL = 4_000;

/** One life of a peer's Node process. */
export class NodePeerProcess implements PeerProcess {
  readonly ready: Promise<void>;
  readonly reading: Promise<PeerReading>;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #log = '';

  constructor(order: ToPeer) {
    // 'advanced' passes typed arrays as they are. What libraries have to say is only of interest when they fail.
    const child = fork(SCRIPT, [], { serialization: 'advanced', stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#log = (this.#log + text).slice(-LOG_TAIL);
      });
    }
    this.#gone = new Promise((resolve) => {
      child.once('exit', () => {
        resolve();
      });
    });
    this.ready = this.#report((message) => (message.what === 'ready' ? { value: undefined } : null));
    this.reading = this.#report((message) =>
      message.what === 'reading' ? { value: message.reading } : null,
    );
    // Whoever kills it waits for neither.
    this.ready.catch(() => undefined);
    this.reading.catch(() => undefined);
    child.send(order);
  }

  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.send({ what: 'stop' } satisfies ToPeer, () => undefined);
    await this.#gone;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  #report<T>(pick: (message: FromPeer) => { readonly value: T } | null): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#child.on('message', (message) => {
        const report = message as FromPeer;
        const picked = pick(report);
        if (picked !== null) resolve(picked.value);
        else if (report.what === 'failed') reject(new Error(report.message));
      });
      this.#child.once('error', reject);
      void this.#gone.then(() => {
        reject(new Error(`its process ended without a word. The end of its log:\n${this.#log}`));
      });
    });
  }
}
