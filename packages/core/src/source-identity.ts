/**
 * What tells one log from another: for Postgres the system identifier, the database, the slot and the
 * timeline. The source writes it and checks it; the store only keeps it.
 */
export type SourceIdentity = Readonly<Record<string, string>>;
