/** A program with all that its start needs. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly uid?: number;
  readonly gid?: number;
  /** Variables beside those of the process that uses the server. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What the supervisor is told once, as its first argument. */
export interface SupervisorSpec {
  /** The run directory; the owner is recorded here, and it is removed at the end. */
  readonly directory: string;
  readonly logFile: string;
  /** Run to its end before the server can be started, and never left behind half done. */
  readonly prepare?: Command;
  readonly command: Command;
  /** Sent to the server when the run ends; SIGKILL follows after `stopDeadlineMs`. */
  readonly stopSignal: NodeJS.Signals;
  readonly stopDeadlineMs: number;
}

/** From the process that uses the server to its supervisor. */
export type Order =
  | { readonly type: 'start' }
  | { readonly type: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly type: 'kill' };

/** From the supervisor back. */
export type Report =
  | { readonly type: 'ready' }
  /** The preparation failed; what it said is in the log. */
  | { readonly type: 'unprepared'; readonly how: string }
  | { readonly type: 'started'; readonly pid: number }
  | { readonly type: 'exited'; readonly how: string }
  /** The signal has been sent, and of SIGSTOP: the server stands still. */
  | { readonly type: 'signalled' }
  /** After `exited`: the server's children are gone too. */
  | { readonly type: 'killed' };
