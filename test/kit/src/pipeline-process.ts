import { fork, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { PipelineStatus } from 'strandline';
import { FileHistory } from './history-file.js';
import {
  optionsVariable,
  pipelineProcessVariable,
  type FromProcess,
  type OffsetsChoice,
  type PipelineProcessOptions,
  type ProcessReport,
  type ToProcess,
} from './pipeline-process-protocol.js';
import type { KillPoint } from './planted-kill.js';
import type { SourceTuning, TestOutbox } from './test-outbox.js';
import { waitUntil } from './wait-until.js';

/** Started by plain Node, so it must be the compiled file even when tests import the sources. */
const main =
  process.env[pipelineProcessVariable] ??
  path.resolve(import.meta.dirname, '..', 'dist', 'pipeline-process-main.js');
/** Two busy cores load a Node process with all its modules in a second or two. */
const startDeadlineMs = 30_000;
const logTail = 32_000;

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One life of a process that runs a pipeline. */
export class PipelineProcess implements AsyncDisposable {
  /** Counts the lives of its pipeline. */
  readonly run: number;
  readonly exited: Promise<ProcessExit>;
  /** Resolves when the pipeline has started; rejects, with what it logged, when the process ended before. */
  readonly started: Promise<void>;
  readonly #child: ChildProcess;
  readonly #reports = new Map<number, (report: ProcessReport) => void>();
  #log = '';
  #asked = 0;
  #killedAt: number | null = null;
  #error: { readonly code: string; readonly message: string } | null = null;

  constructor(options: PipelineProcessOptions) {
    this.run = options.run;
    const child = fork(main, [], {
      env: { ...process.env, [optionsVariable]: JSON.stringify(options) },
      execArgv: [], // a test runner's loaders are of no use there
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#log = (this.#log + text).slice(-logTail);
    });
    // A process that a test has stopped (SIGSTOP) can't notice that the test has gone.
    const reap = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', reap);
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        process.off('exit', reap);
        resolve({ code, signal });
      });
    });
    child.on('message', (message: FromProcess) => {
      this.#hear(message);
    });
    this.started = new Promise((resolve, reject) => {
      child.on('message', (message: FromProcess) => {
        if (message.type === 'started') resolve();
      });
      void this.exited.then((exit) => {
        reject(new Error(`The pipeline's process ended: ${JSON.stringify(exit)}. It said:\n${this.#log}`));
      });
    });
    this.started.catch(() => undefined); // who kills it early does not wait for it
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The end of what it logged. */
  get log(): string {
    return this.#log;
  }

  /** What ended the pipeline, if it was an error. */
  get error(): { readonly code: string; readonly message: string } | null {
    return this.#error;
  }

  /** When it was sent its SIGKILL, by the machine's clock; null as long as it wasn't. */
  get killedAt(): number | null {
    return this.#killedAt;
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL') this.#killedAt ??= Date.now();
    this.#child.kill(signal);
  }

  /** SIGKILL: no handler ends, nothing is saved. Resolves when the process is gone. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  /** Lets the pipeline drain. */
  async stop(): Promise<ProcessExit> {
    this.#send({ type: 'stop' });
    return this.exited;
  }

  /** Lets the held handlers of a key go on; without one, those of all keys. */
  release(key?: string): void {
    this.#send({ type: 'release', key });
  }

  /** Lets the held handler of a key that waits now go on; the next one waits again. */
  step(key: string): void {
    this.#send({ type: 'step', key });
  }

  /** From now on the events with these payloads fail for good, and no others. */
  break(payloads: readonly string[]): void {
    this.#send({ type: 'break', payloads });
  }

  /** It kills itself at a statement to its dead-letter table, counted from now; or only counts. */
  plant(point: KillPoint | null): void {
    this.#send({ type: 'plant', point });
  }

  /** Puts its clock so many milliseconds ahead of the right time, or behind; the history goes on telling the right one. */
  setClock(milliseconds: number): void {
    this.#send({ type: 'clock', milliseconds });
  }

  /** Its offsets, in files, find no room on the disk; or they do again. */
  fillDisk(full: boolean): void {
    this.#send({ type: 'disk', full });
  }

  async report(): Promise<ProcessReport> {
    this.#asked += 1;
    const id = this.#asked;
    const answer = new Promise<ProcessReport>((resolve) => this.#reports.set(id, resolve));
    this.#send({ type: 'report', id });
    const gone = this.exited.then((exit): ProcessReport => {
      throw new Error(`The pipeline's process ended: ${JSON.stringify(exit)}. It said:\n${this.#log}`);
    });
    return Promise.race([answer, gone]);
  }

  /** Resolves once the pipeline's status meets the condition. */
  async untilStatus(
    what: string,
    condition: (status: PipelineStatus) => boolean,
    deadlineMs?: number,
  ): Promise<PipelineStatus> {
    const look = async (): Promise<PipelineStatus | null> => {
      const { status } = await this.report();
      return condition(status) ? status : null;
    };
    return waitUntil(what, look, deadlineMs === undefined ? {} : { deadlineMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.kill();
  }

  #hear(message: FromProcess): void {
    if (message.type === 'ended') this.#error = message.error;
    if (message.type !== 'report') return;
    this.#reports.get(message.id)?.(message.report);
    this.#reports.delete(message.id);
  }

  #send(message: ToProcess): void {
    // To one that has just died it is lost; that it has died is told by `exited`.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}

type Template = Omit<PipelineProcessOptions, 'history' | 'run' | 'offsets' | 'source'>;

interface Choices {
  /** On top of what the outbox needs. */
  readonly source?: SourceTuning;
  /** By default a file, in a folder that goes with the test. */
  readonly offsets?: OffsetsChoice;
}

/** One pipeline over several lives of its process. They share an offset and a history. */
export class PipelineRuns implements AsyncDisposable {
  readonly history: FileHistory;
  readonly offsets: OffsetsChoice;
  readonly #template: Template & Pick<PipelineProcessOptions, 'source'>;
  readonly #directory: string;
  readonly #processes: PipelineProcess[] = [];

  static async prepare(
    outbox: Pick<TestOutbox, 'sourceChoice'>,
    { source, offsets, ...template }: Template & Choices,
  ): Promise<PipelineRuns> {
    const directory = await mkdtemp(path.join(tmpdir(), 'strandline-test-'));
    return new PipelineRuns(
      { ...template, source: outbox.sourceChoice(source) },
      directory,
      offsets ?? { kind: 'file', directory: path.join(directory, 'offsets') },
    );
  }

  private constructor(
    template: Template & Pick<PipelineProcessOptions, 'source'>,
    directory: string,
    offsets: OffsetsChoice,
  ) {
    this.#template = template;
    this.#directory = directory;
    this.offsets = offsets;
    this.history = new FileHistory(this.#historyFile);
  }

  /** The next life, started; it resolves when the pipeline has started. */
  async start(changes: Partial<Template> = {}): Promise<PipelineProcess> {
    const next = this.launch(changes);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`The pipeline did not start. It said:\n${next.log}`));
      }, startDeadlineMs);
    });
    await Promise.race([next.started, late]).finally(() => {
      clearTimeout(timer);
    });
    return next;
  }

  /** The next life, on its way up. */
  launch(changes: Partial<Template> = {}): PipelineProcess {
    const run = this.#processes.length + 1;
    const next = new PipelineProcess({
      ...this.#template,
      ...changes,
      offsets: this.offsets,
      history: this.#historyFile,
      run,
    });
    this.#processes.push(next);
    // Told when it was sent its SIGKILL: another one may have taken over before we hear of its end.
    void next.exited.then(({ code }) => {
      this.history.end(run, code === 0 ? 'stopped' : 'cut short', next.killedAt ?? Date.now());
    });
    return next;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#processes) await each[Symbol.asyncDispose]();
    this.history[Symbol.dispose]();
    await rm(this.#directory, { recursive: true });
  }

  get #historyFile(): string {
    return path.join(this.#directory, 'history.jsonl');
  }
}
