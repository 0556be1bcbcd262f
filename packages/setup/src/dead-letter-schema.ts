/**
 * The schema of Postgres that the dead letters get for themselves: the role may then make its tables there, and nowhere
 * else.
 */
export const DEAD_LETTER_SCHEMA = 'strandline';

/** The tables on MySQL and MariaDB, where they lie beside the outbox: `deadLetters` with its default prefix. */
export const DEAD_LETTER_TABLES = [
  'strandline_dead_letters',
  'strandline_parked_keys',
  'strandline_letter_owners',
] as const;
