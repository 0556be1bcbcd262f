import type pg from 'pg';
import type { PeerPlace, PeerRow } from '../peer.js';

/** The handler of a benchmark, as each kind of peer gets to call it. */
export type Handle = (row: PeerRow) => Promise<void>;

/** A peer at work. */
export interface Consumption {
  /** In order: what runs ends and is settled. */
  stop(): Promise<void>;
}

/** What a process is told besides what to do. */
export interface ConsumeOptions {
  /** Keys that have rows at once, about: a batch with one row per key can't be larger. */
  readonly keys: number;
}

/** A peer that runs in a Node process: what it does in its database beforehand, and what it does in the process. */
export interface PeerKind {
  readonly name: string;
  readonly goal: number | null;
  /** The npm package that it comes from; null where it is written here. */
  readonly package: string | null;
  readonly most?: number;
  /** See `Peer`. The client is connected to the database of the place. */
  install(sql: pg.Client, place: PeerPlace): Promise<void>;
  load(sql: pg.Client, place: PeerPlace): Promise<void>;
  uninstall(sql: pg.Client, place: PeerPlace): Promise<void>;
  /** In the process. Resolves when it looks for rows. */
  consume(place: PeerPlace, handle: Handle, options: ConsumeOptions): Promise<Consumption>;
}
