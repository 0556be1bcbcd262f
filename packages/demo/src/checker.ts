/** One row of the outbox. Listed per key in commit order. */
export interface CommittedEvent {
  readonly key: string;
  readonly id: string;
}

/** One event that a consumer was given and recorded. Listed in the order in which it was given. */
export interface Delivery {
  readonly key: string;
  readonly id: string;
  /** Counts the consumer's process lives: only between two lives may a key go back to earlier events. */
  readonly run: number;
  /** False when another handler of the same key was running in that process when this one began. */
  readonly alone: boolean;
}

/**
 * - `gap`: an event was given although an earlier one of its key had not been.
 * - `swap`: within one life of the process, a key went back to an event that it had already passed.
 * - `cut`: a key was taken back, and its deliveries ended before it was again where it had been.
 * - `overlap`: two handlers of one key ran at once.
 * - `phantom`: the event is not in the outbox under that key; its transaction never committed.
 */
export type ViolationKind = 'gap' | 'swap' | 'cut' | 'overlap' | 'phantom';

export interface Violation {
  readonly kind: ViolationKind;
  readonly key: string;
  readonly id: string;
  readonly run: number;
}

export interface Verdict {
  readonly committed: number;
  /** Distinct committed events that were delivered at least once. */
  readonly handled: number;
  readonly missed: readonly CommittedEvent[];
  /** Deliveries beyond the first of each event. */
  readonly duplicates: number;
  readonly violations: readonly Violation[];
}

/**
 * Holds what a consumer was given against what was committed, key by key.
 *
 * The rule: read a key's deliveries one after the other. Within one life of the consumer each is the successor,
 * in commit order, of the one before. The first one in a later life may also be any earlier event of the key:
 * after a crash a key may see a suffix of its events again. It may never begin further on than where the last
 * life stopped, and it may not end before it has caught up. Whatever breaks this is a violation, and so is
 * running twice at once. A loss is counted on its own: an event without a delivery.
 */
export function check(committed: readonly CommittedEvent[], deliveries: readonly Delivery[]): Verdict {
  const places = placeInHistory(committed);
  const passages = new Map<string, Passage>();
  const handled = new Set<string>();
  const violations: Violation[] = [];
  let repeats = 0;

  for (const delivery of deliveries) {
    const place = places.get(delivery.id);
    if (place?.key !== delivery.key) {
      violations.push(violation('phantom', delivery));
      continue;
    }
    if (handled.has(delivery.id)) repeats += 1;
    handled.add(delivery.id);
    if (!delivery.alone) violations.push(violation('overlap', delivery));

    const before = passages.get(delivery.key) ?? { index: -1, furthest: -1, latest: delivery };
    const fault = faultOfStep(before, place.index, delivery.run);
    if (fault !== undefined) violations.push(violation(fault, delivery));
    passages.set(delivery.key, {
      index: place.index,
      furthest: Math.max(before.furthest, place.index),
      latest: delivery,
    });
  }

  for (const passage of passages.values()) {
    if (passage.index < passage.furthest) violations.push(violation('cut', passage.latest));
  }
  return {
    committed: committed.length,
    handled: handled.size,
    missed: committed.filter((event) => !handled.has(event.id)),
    duplicates: repeats,
    violations,
  };
}

/** Where a key's deliveries have got to: the place of the latest one and the furthest place of all. */
interface Passage {
  readonly index: number;
  readonly furthest: number;
  readonly latest: Delivery;
}

function faultOfStep(before: Passage, index: number, run: number): 'gap' | 'swap' | undefined {
  if (index > before.index + 1) return 'gap';
  const isSuccessor = index === before.index + 1;
  const isLaterLife = run > before.latest.run;
  return isSuccessor || isLaterLife ? undefined : 'swap';
}

/** The 0-based place of each event among the events of its key. */
function placeInHistory(committed: readonly CommittedEvent[]): Map<string, { key: string; index: number }> {
  const lengths = new Map<string, number>();
  const places = new Map<string, { key: string; index: number }>();
  for (const { key, id } of committed) {
    const index = lengths.get(key) ?? 0;
    lengths.set(key, index + 1);
    places.set(id, { key, index });
  }
  return places;
}

function violation(kind: ViolationKind, { key, id, run }: Delivery): Violation {
  return { kind, key, id, run };
}
