import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { buildGoProgram, pythonTool, startTool, type RunningTool } from '@strandline/servers';
import { waitUntil } from '@strandline/test-kit';

export type ReceiverKind = 'python' | 'go';

/** What a receiver of `examples/receivers` has counted. */
export interface ReceiverCounts {
  readonly handled: number;
  readonly duplicates: number;
  readonly refused: number;
  readonly outOfOrder: number;
}

/** A line of its journal. */
export interface Handled {
  readonly idempotencyKey: string;
  readonly key: string;
  readonly version: number | null;
}

const EXAMPLES = path.resolve(import.meta.dirname, '..', '..', 'examples', 'receivers');

/** Finds or compiles what a receiver runs on. The first time that takes as long as the compiler does. */
export async function receiverCommand(
  kind: ReceiverKind,
): Promise<(secret: string) => Promise<ReceiverProcess>> {
  if (kind === 'go') {
    const file = await buildGoProgram(path.join(EXAMPLES, 'go'));
    return (secret) =>
      ReceiverProcess.start(kind, { env: {}, program: (args) => ({ file, args }) }, [], secret);
  }
  const python = await pythonTool();
  const script = path.join(EXAMPLES, 'python', 'receiver.py');
  return (secret) => ReceiverProcess.start(kind, python, [script], secret);
}

/** A receiver as a process of its own, which fails now and then. */
export class ReceiverProcess implements AsyncDisposable {
  static async start(
    kind: ReceiverKind,
    tool: Awaited<ReturnType<typeof pythonTool>>,
    first: readonly string[],
    secret: string,
  ): Promise<ReceiverProcess> {
    const running = await startTool(
      `receiver-${kind}`,
      (port) => tool.program([...first, '--port', String(port), '--flaky']),
      { ...tool.env, WEBHOOK_SECRET: secret },
    );
    const receiver = new ReceiverProcess(running);
    try {
      await waitUntil(`the receiver in ${kind} serves`, () =>
        receiver.counts().then(
          () => true,
          () => false,
        ),
      );
      return receiver;
    } catch (cause) {
      const said = await running.logTail();
      await receiver[Symbol.asyncDispose]();
      throw new Error(`The receiver does not serve. It said: ${said}`, { cause });
    }
  }

  readonly #running: RunningTool;

  private constructor(running: RunningTool) {
    this.#running = running;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.#running.port)}/`;
  }

  async counts(): Promise<ReceiverCounts> {
    const response = await fetch(this.url, { headers: { connection: 'close' } });
    return (await response.json()) as ReceiverCounts;
  }

  /** What it has handled, in that order. */
  async journal(): Promise<Handled[]> {
    const text = await readFile(path.join(this.#running.directory, 'journal.jsonl'), 'utf8');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Handled);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running[Symbol.asyncDispose]();
  }
}
