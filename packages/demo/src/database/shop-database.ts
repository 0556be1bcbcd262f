import type { CommittedEvent, Delivery } from '../checker.js';
import type { Move, Order, OrderState } from '../shop.js';

/** The shop's tables, whichever database they are in. Ids are text: no driver reads a bigint as a number safely. */
export interface ShopDatabase extends AsyncDisposable {
  createTables(): Promise<void>;
  /** A connection of its own, given back when it is disposed of. */
  openWriter(): Promise<ShopWriter>;

  /** What an id cursor asks for: the events above `id`, by id. */
  eventsAbove(id: string): Promise<CommittedEvent[]>;
  recordPolled(events: readonly CommittedEvent[]): Promise<void>;
  recordHandled(delivery: HandledDelivery): Promise<void>;

  /** @param cursorId the highest id that the id cursor has seen. */
  counts(cursorId: string): Promise<ShopCounts>;
  /** The outbox, per order in commit order. */
  committed(): Promise<OutboxEvent[]>;
  /** What Strandline's handler recorded, in the order of its calls. */
  handled(): Promise<HandledDelivery[]>;
  /** What the id cursor recorded, in the order in which it saw them. */
  polled(): Promise<CommittedEvent[]>;
}

/** The steps of the shop's transactions. */
export interface ShopWriter extends Disposable {
  begin(): Promise<void>;
  /** Resolves with the order's id. Its version is 1. */
  insertOrder(state: OrderState): Promise<string>;
  /** Reads an order and keeps its row locked until the transaction ends. */
  lockOrder(id: string): Promise<Order>;
  updateOrder(move: Move): Promise<void>;
  /** Writes the event. Its id is the table's own: taken now, and seen by others only after the commit. */
  insertEvent(move: Move): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

export interface OutboxEvent extends CommittedEvent {
  readonly type: string;
}

export interface HandledDelivery extends Delivery {
  readonly attempt: number;
}

export interface ShopCounts {
  readonly committed: number;
  /** Distinct events that Strandline's handler has recorded. */
  readonly handled: number;
  /** Deliveries beyond the first of each event. */
  readonly duplicates: number;
  /** Events of an order that were not handled although a later one of that order was. */
  readonly jumpedOver: number;
  /** Events up to the id cursor, whether or not it saw them. */
  readonly upToCursor: number;
}
