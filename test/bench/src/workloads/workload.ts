import type { BacklogOptions } from '../databases/bench-database.js';
import type { GoalName } from '../goals.js';
import type { StrandlineSettings } from '../readers/strandline.js';

/** The log of a workload. */
export interface WorkloadLog extends Omit<BacklogOptions, 'name' | 'rows'> {
  /** How many rows, in multiples of `--rows`. */
  readonly share: number;
}

/** Strandline, with settings of the workload. */
export interface Variant {
  /** For people, after `strandline, `. */
  readonly label: string;
  readonly settings: Partial<StrandlineSettings>;
}

/**
 * What it is read beside, in the same round and from the same log.
 *
 * - `bare`: the library below Strandline's source, with its own decoder; it acknowledges nothing.
 * - `server`: the program that comes with the database, where there is one.
 * - `waits`: nothing but the waits of the first variant's handlers, as many at once.
 */
export type Peer = 'bare' | 'server' | 'waits';

/** A backlog, and who reads it. The goals are those of the first variant. */
export interface Workload {
  /** Of its database: a-z, 0-9 and _. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  readonly log: WorkloadLog;
  readonly variants: readonly [Variant, ...Variant[]];
  readonly peers: readonly Peer[];
  readonly goals?: {
    /** Of its speed, as a share of that of the peer. */
    readonly bare?: GoalName;
    readonly server?: GoalName;
    readonly waits?: GoalName;
    /** As a share of that of the workload which `against` names. */
    readonly against?: GoalName;
  };
  /** Compare it with another workload of the list, each as a share of the bare library on its own log. */
  readonly against?: string;
}
