/**
 * A source's printable coordinate of an event: the commit coordinate of its transaction and the row's ordinal
 * within it. Only the source that made it can read or compare it; here it is an opaque string.
 */
export type Position = string;

/** A run of settled positions, both ends included, in the source's order. */
export interface PositionRange {
  readonly first: Position;
  readonly last: Position;
}
