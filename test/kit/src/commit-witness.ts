/** One row of the outbox that committed. */
export interface CommittedEvent {
  readonly id: string;
  readonly key: string;
  /** Where an event of it has to say that it lies: in the words of `TestOutbox.placeOf`. */
  readonly position: string;
}

/** One transaction that wrote to the outbox. */
export interface CommittedTransaction {
  readonly events: readonly CommittedEvent[];
}

/**
 * What committed, in commit order, by the server's own word. It shares no code with what is tested, and knows also of
 * commits whose answer never arrived. Each kind of server has a way of its own to be asked.
 */
export abstract class CommitWitness {
  /** All transactions up to now. */
  abstract transactions(): Promise<readonly CommittedTransaction[]>;

  /** All rows up to now. */
  async events(): Promise<CommittedEvent[]> {
    return (await this.transactions()).flatMap(({ events }) => events);
  }
}
