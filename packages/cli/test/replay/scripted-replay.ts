import type { Pipeline, Replay, ReplayOptions, ReplayState, ReplaySummary } from '@strandline/pipeline';
import { PassThrough } from 'node:stream';
import type { Streams } from '../../src/streams.js';

export const SUMMARY: ReplaySummary = {
  name: 'orders-replay',
  state: 'completed',
  dryRun: false,
  from: '16/A:0',
  to: '16/B:0',
  position: '16/B:0',
  events: 1_200,
  skipped: 0,
  retries: 1,
  progress: 1,
  rate: 310.4,
  remaining: 0,
  duration: 3_870,
  keys: 3,
  topKeys: [{ name: 'a\u001b[2J', events: 1_000 }],
  topTypes: [{ name: 'paid', events: 200 }],
};

/** A pipeline whose replay ends when the test says so, or when it is stopped. */
export class ReplayedPipeline {
  readonly name = 'orders';
  asked: ReplayOptions | null = null;
  stopped = 0;
  summary: ReplaySummary = SUMMARY;
  #end: (state: ReplayState) => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  #started: () => void = () => undefined;
  readonly started = new Promise<void>((resolve) => {
    this.#started = resolve;
  });

  replay(options: ReplayOptions): Promise<Replay> {
    this.asked = options;
    const finished = new Promise<ReplaySummary>((resolve, reject) => {
      this.#end = (state) => {
        this.summary = { ...this.summary, state };
        resolve(this.summary);
      };
      this.#fail = (error: Error) => {
        this.summary = { ...this.summary, state: 'failed' };
        reject(error);
      };
    });
    finished.catch(() => undefined);
    this.#started();
    return Promise.resolve({
      ...{ name: 'orders-replay', finished, status: () => this.summary, summary: () => this.summary },
      ...{ stop: () => this.stop(), [Symbol.asyncDispose]: () => this.stop() },
    });
  }

  completes(): void {
    this.#end('completed');
  }

  fails(error: Error): void {
    this.#fail(error);
  }

  stop(): Promise<void> {
    this.stopped += 1;
    this.#end('interrupted');
    return Promise.resolve();
  }

  get asPipeline(): Pipeline {
    return this as unknown as Pipeline;
  }
}

/** Streams that are kept. With `typed` somebody sits at a terminal and types it. */
export function keptStreams(typed?: string): { streams: Streams; wrote: { stdout: string; stderr: string } } {
  const wrote = { stdout: '', stderr: '' };
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== undefined });
  stdin.end(typed ?? '');
  const output = (name: 'stdout' | 'stderr') => {
    const stream = new PassThrough();
    stream.on('data', (text: Buffer) => (wrote[name] += text.toString()));
    return Object.assign(stream, { isTTY: typed !== undefined, columns: 40 });
  };
  return { streams: { stdin, stdout: output('stdout'), stderr: output('stderr') }, wrote };
}
