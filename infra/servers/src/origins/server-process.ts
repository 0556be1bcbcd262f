/** Where a server came from, in the order in which the ways are tried. */
export type ServerOrigin = 'environment' | 'docker' | 'local';

/** A server that was started here, in a container or as a process, told apart from what it serves. */
export interface ServerProcess {
  readonly origin: 'docker' | 'local';
  readonly host: string;
  readonly port: number;
  /** Only where it is a folder of this machine. */
  readonly dataDirectory?: string;
  /** Whether the process or container runs; it may not serve yet. */
  readonly running: boolean;
  /** Resolves when the process exists, which is before it can serve. */
  start(): Promise<void>;
  signal(signal: NodeJS.Signals): Promise<void>;
  /** Resolves with whether the server has ended within `deadlineMs`. */
  exited(deadlineMs: number): Promise<boolean>;
  /** SIGKILL to the server and all of its children; resolves when they are gone. */
  kill(): Promise<void>;
  /** Stops the server for good and removes everything of it. Safe to call twice. */
  close(): Promise<void>;
  /** The end of its log and how it ended, for error messages. */
  diagnosis(): Promise<string>;
}
