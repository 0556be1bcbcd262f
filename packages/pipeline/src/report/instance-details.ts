import { z } from 'zod';

/**
 * What a process of a pipeline tells of itself in `InstanceReport.details`, checked when it is read: another version may
 * have written it. Ages and other spans are in seconds, by the clock of who reports. Texts are cut, and nothing of a
 * payload is in it. What is not known is null.
 */
const number = z.number();
const text = z.string();

const errorSchema = z.object({ name: text, code: text.nullable(), message: text });

const pruneSchema = z.object({
  /** Null before it has seen its table. */
  outbox: text.nullable(),
  state: text,
  rowsDeleted: number,
  partitionsDropped: number,
  /** Rows that are old, and not known to be settled by all. */
  candidates: number,
  /** When the oldest row is from, and when the last round ended in order: ISO 8601 UTC. */
  oldest: text.nullable(),
  finishedAt: text.nullable(),
  /** Ten at most of those who have not settled what is to go. */
  heldBack: z.array(z.object({ who: text, why: text })),
  /** Why it pauses now. */
  paused: text.nullable(),
  /** What the last round failed with. */
  error: z.object({ code: text.nullable(), message: text }).nullable(),
});

const detailsSchema = z.object({
  /** Why the log is not being read on. */
  paused: text.nullable(),
  /** Everything up to here is settled. A cut text: the whole one is in the offset. */
  watermark: text.nullable(),
  /** What committed before this time is settled, ISO 8601 UTC by the outbox's clock; null before the first event. */
  settledBefore: text.nullable(),
  /** How long ago that was. It grows while the outbox is idle, too: `unsettled` and `source.lagBytes` tell the two apart. */
  watermarkAge: number.nullable(),
  source: z.object({ state: text, lagBytes: number.nullable(), reconnects: number }).nullable(),
  offsetsAvailable: z.boolean(),
  lettersAvailable: z.boolean(),
  /** Events run one at a time, to find the one whose handler ends the process. */
  suspecting: z.boolean(),
  /** Settled and not saved. */
  unsaved: number,
  /** Events admitted and not settled, their bytes, and keys that have some. */
  unsettled: number,
  bytes: number,
  strands: number,
  /** Keys by what they are doing. */
  running: number,
  stuck: number,
  backoff: number,
  exhausted: number,
  halted: number,
  /** Told by newer versions only. */
  held: number.default(0),
  parked: number,
  full: number,
  releasing: number,
  /** Events settled by this owner. */
  settled: number,
  /** Events per second over the last ten. */
  rates: z.object({ admitted: number, settled: number }).nullable(),
  /** The oldest event that is not settled; its age since its transaction committed. */
  oldest: z.object({ key: text, id: text, position: text, age: number }).nullable(),
  /** The handlers that run longest, with how long at least; `stuck` beyond `handlerTimeout`. */
  turns: z.array(z.object({ key: text, id: text, attempt: number, age: number, stuck: z.boolean() })),
  /** Keys whose head has failed, the longest-failing first: how long it has, and when it is tried again. */
  failing: z.array(
    z.object({
      key: text,
      state: text,
      events: number,
      attempt: number,
      age: number,
      nextTryIn: number.nullable(),
      error: errorSchema,
    }),
  ),
  /** Keys with most events here. */
  hot: z.array(z.object({ key: text, events: number })),
  parkedKeys: z.array(text),
  /** Parked keys that hold the log: the dead-letter table has no room for them. */
  fullKeys: z.array(text),
  /** Of so many keys not all were looked at: those that live longest were. */
  partial: z.boolean(),
  /** What the pruner of this owner does; null without one. Told by newer versions only. */
  prune: pruneSchema.nullable().default(null),
  /** What it has failed with. */
  error: errorSchema.nullable(),
});

export type InstanceDetails = Readonly<z.infer<typeof detailsSchema>>;

/** The details of a report; null when they are not ours to read. */
export function readInstanceDetails(details: unknown): InstanceDetails | null {
  return detailsSchema.safeParse(details).data ?? null;
}
