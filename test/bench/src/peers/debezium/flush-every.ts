/** Debezium's default, in milliseconds: how often its engine saves its offset. */
export const FLUSH_EVERY = 60_000;
