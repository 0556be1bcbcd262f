/** The shop on MySQL and MariaDB; shop.ts says what the tables mean. One statement each, as the servers take them. */
export const MYSQL_TABLES = [
  `CREATE TABLE orders (
    id      bigint      AUTO_INCREMENT PRIMARY KEY,
    state   varchar(20) NOT NULL,
    version int         NOT NULL
  )`,
  `CREATE TABLE outbox (
    id       bigint      AUTO_INCREMENT PRIMARY KEY,
    order_id bigint      NOT NULL,
    version  int         NOT NULL,
    type     varchar(40) NOT NULL,
    payload  json        NOT NULL,
    FOREIGN KEY (order_id) REFERENCES orders (id)
  )`,
  `CREATE TABLE handled (
    seq       bigint       AUTO_INCREMENT PRIMARY KEY,
    order_id  bigint       NOT NULL,
    outbox_id bigint       NOT NULL,
    run       int          NOT NULL,
    attempt   int          NOT NULL,
    alone     boolean      NOT NULL,
    at        timestamp(6) NOT NULL DEFAULT current_timestamp(6)
  )`,
  `CREATE TABLE polled (
    seq       bigint       AUTO_INCREMENT PRIMARY KEY,
    order_id  bigint       NOT NULL,
    outbox_id bigint       NOT NULL,
    at        timestamp(6) NOT NULL DEFAULT current_timestamp(6)
  )`,
];
