/** An order's life. Each step is one transaction and one event in the outbox. */
export const STATES = ['placed', 'paid', 'packed', 'shipped', 'delivered'] as const;
export type OrderState = (typeof STATES)[number];
export const FINAL_STATE: OrderState = 'delivered';

/** The state after `state`; undefined when the order is at its end. */
export function nextState(state: OrderState): OrderState | undefined {
  return STATES[STATES.indexOf(state) + 1];
}

/**
 * `version` counts an order's events. It is read and raised while the order's row is locked, so it gives the true
 * commit order of the events of one order: what both consumers are held against, without asking either.
 *
 * `handled` and `polled` are what the two consumers wrote down. They have no foreign key to the outbox and no
 * unique key on purpose: a consumer that invents or repeats an event must be able to record it.
 */
export const SCHEMA = `
  CREATE TABLE orders (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state   text   NOT NULL,
    version int    NOT NULL
  );
  CREATE SEQUENCE outbox_id;
  CREATE TABLE outbox (
    id       bigint PRIMARY KEY DEFAULT nextval('outbox_id'),
    order_id bigint NOT NULL REFERENCES orders,
    version  int    NOT NULL,
    type     text   NOT NULL,
    payload  jsonb  NOT NULL
  );
  CREATE TABLE handled (
    seq       bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id  bigint      NOT NULL,
    outbox_id bigint      NOT NULL,
    run       int         NOT NULL,
    attempt   int         NOT NULL,
    alone     boolean     NOT NULL,
    at        timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE TABLE polled (
    seq       bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id  bigint      NOT NULL,
    outbox_id bigint      NOT NULL,
    at        timestamptz NOT NULL DEFAULT clock_timestamp()
  );
`;
