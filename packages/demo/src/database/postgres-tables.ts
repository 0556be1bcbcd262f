/** The shop on Postgres; shop.ts says what the tables mean. */
export const POSTGRES_TABLES = `
  CREATE TABLE orders (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state   text   NOT NULL,
    version int    NOT NULL
  );
  CREATE TABLE outbox (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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
