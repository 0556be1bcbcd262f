import type { RowsPerKey } from '../databases/bench-database.js';

/** Where a peer works: a Postgres database with a table `outbox` that has the columns id, key and payload. */
export interface PeerPlace {
  /** Superuser's connection string to this database. */
  readonly url: string;
  /** A prefix for what belongs to the whole server, such as slots: no other peer or benchmark uses it. */
  readonly name: string;
  /**
   * A slot with the plugin pgoutput that has the whole outbox in front of it, for one reading and readers of the log; the
   * publication is called `bench`. Whose it is makes and drops it. Null where a peer lives on after a kill: there it makes
   * its own in `install`.
   */
  readonly slot: string | null;
}

/** What a handler is called with. The outbox's numbers are text here. */
export interface PeerRow {
  readonly id: string;
  readonly key: string;
  /** Begins as `payload.ts` says, where speed is measured. */
  readonly payload: string;
}

/** What a process of a peer is to do with the rows that it gets. */
export type PeerTask =
  /** An async handler that does nothing; what it saw is noted in memory, and told at the end. */
  | {
      readonly kind: 'speed';
      /** That the backlog has. The process ends by itself once it has seen them. */
      readonly rows: number;
      readonly keys: number;
      /** Or so many milliseconds after its first row, whichever is first. */
      readonly limit: number;
    }
  /** A handler that writes down when it starts and ends: one line of `test/kit/src/history-file.ts` for each. */
  | {
      readonly kind: 'history';
      readonly file: string;
      /** Counts the lives of this peer's process: 1, 2, … */
      readonly run: number;
      /** Milliseconds that a handler takes at most; drawn evenly for each call. */
      readonly work: number;
    };

/**
 * What a peer saw while its speed was measured. Moments are milliseconds of the machine's monotonic clock, which starts
 * with the peer's first row: what it needs to come up is not held against it.
 */
export interface PeerReading {
  /** The first row was seen. */
  readonly startedAt: number;
  /** The last one was, or the time was over. */
  readonly endedAt: number;
  /** Processor time of the peer's process between the two, in milliseconds. */
  readonly cpu: number;
  /** Rows between the two. */
  readonly seen: number;
  /** The ordinal that was seen last, by key. */
  readonly lastOrdinals: RowsPerKey;
  /** Swaps, repeats, gaps and overlaps within a key, in words; the first few. Then there is no figure of speed. */
  readonly faults: readonly string[];
}

/** A process of a peer, from its start on. */
export interface PeerProcess {
  /** It has come up and looks for rows. Rejects when it ended before, with what it said. */
  readonly ready: Promise<void>;
  /** What it saw, for the task `speed`. Rejects when the process ends without a word. */
  readonly reading: Promise<PeerReading>;
  /** Ends it in order: what runs is finished and settled. Resolves when the process has gone. */
  stop(): Promise<void>;
  /** SIGKILL. Resolves when the process has gone. */
  kill(): Promise<void>;
}

/**
 * Something else that one could have taken to handle the rows of an outbox. Where speed is measured, the rows are there
 * before, and for each reading it is
 *
 *     install, load, start, its end, uninstall
 *
 * Where the promises are looked at there is no `load`: what `install` put there hands each row to the peer as its
 * transaction commits, and `start` is called anew after each `kill`. `obtain` comes before all of it.
 */
export interface Peer {
  /** For people to read, with what has to be said about its tuning. */
  readonly name: string;
  /** How many times as fast Strandline has to be. */
  readonly goal: number | null;
  /** Rows that `load` puts there at most, where more would only be to its disadvantage; by default all. */
  readonly most?: number;
  /** Makes it ready on this machine, downloads included; resolves with a sentence when it can't take part, or null. */
  obtain(progress: (text: string) => void): Promise<string | null>;
  /** Of what was obtained. */
  version(): Promise<string>;
  /** From now on each row that commits is the peer's to handle; no process of it is there yet. */
  install(place: PeerPlace): Promise<void>;
  /** Puts all rows of the outbox in front of the peer once more, in the order of their ids, and nothing else. */
  load(place: PeerPlace): Promise<void>;
  uninstall(place: PeerPlace): Promise<void>;
  start(place: PeerPlace, task: PeerTask): PeerProcess;
}
