/** An order's life. Each step is one transaction and one event in the outbox. */
export const STATES = ['placed', 'paid', 'packed', 'shipped', 'delivered'] as const;
export type OrderState = (typeof STATES)[number];
export const FINAL_STATE: OrderState = 'delivered';

/**
 * A row of `orders`. `version` counts the order's events. It is read and raised while the order's row is locked, so it
 * gives the true commit order of the events of one order: what both consumers are held against, without asking either.
 *
 * Two more tables, `handled` and `polled`, are what the two consumers wrote down. They have no foreign key to the
 * outbox and no unique key on purpose: a consumer that invents or repeats an event must be able to record it.
 */
export interface Order {
  readonly state: OrderState;
  readonly version: number;
}

/** One step of an order. */
export interface Move extends Order {
  readonly orderId: string;
}

/** The state after `state`; undefined when the order is at its end. */
export function nextState(state: OrderState): OrderState | undefined {
  return STATES[STATES.indexOf(state) + 1];
}

export function eventType({ state }: Move): string {
  return `order.${state}`;
}

export function payloadOf({ orderId, state }: Move): string {
  return JSON.stringify({ order: orderId, state });
}
