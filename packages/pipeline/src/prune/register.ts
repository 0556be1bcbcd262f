import type { HeldBack, OffsetStore, OutboxPruner, RegisteredPipeline } from '@strandline/core';

/**
 * The pipelines that an offset store knows. A pipeline that was seen once is asked for by its name from then on: a listing
 * of a cluster whose keys are moving may lack it. It is gone only when the store says of itself that it has no offset.
 */
export class Register {
  readonly #offsets: OffsetStore;
  readonly #names: readonly string[];
  #known: ReadonlySet<string> | null = null;

  /** @param names those that are asked for whether they were ever seen or not */
  constructor(offsets: OffsetStore, names: readonly string[]) {
    this.#offsets = offsets;
    this.#names = names;
  }

  /** All of them: of a large store that takes a while. */
  async all(): Promise<readonly RegisteredPipeline[]> {
    const listed = await this.#offsets.list();
    const names = new Set(listed.map(({ pipeline }) => pipeline));
    const others = [...(this.#known ?? [])].filter((name) => !names.has(name));
    const found = [...listed, ...(await this.#load(others))];
    this.#known = new Set([...this.#names, ...found.map(({ pipeline }) => pipeline)]);
    return withoutReplays(found);
  }

  /** Those that were there the last time. */
  async known(): Promise<readonly RegisteredPipeline[]> {
    return this.#known === null ? this.all() : withoutReplays(await this.#load([...this.#known]));
  }

  async #load(names: readonly string[]): Promise<RegisteredPipeline[]> {
    const found: RegisteredPipeline[] = [];
    for (const pipeline of names) {
      const offset = await this.#offsets.load(pipeline);
      if (offset !== null) found.push({ pipeline, offset });
    }
    return found;
  }
}

/** A replay reads the log: what it has to read is there whether the rows are or not. */
function withoutReplays(found: readonly RegisteredPipeline[]): readonly RegisteredPipeline[] {
  return found.filter(({ offset }) => offset.identity['replay'] === undefined);
}

/** Of these names, which are no pipelines on the outbox as far as the store knows: nobody can tell what they have settled. */
export function missing(
  names: readonly string[],
  found: readonly RegisteredPipeline[],
  pruner: Pick<OutboxPruner, 'relationOf' | 'outbox'>,
): readonly HeldBack[] {
  return names.flatMap((name): readonly HeldBack[] => {
    const offset = found.find(({ pipeline }) => pipeline === name)?.offset;
    const who = `pipeline ${name}`;
    if (offset === undefined) {
      const why = 'it has no offset in this store: it never ran, or was reset, or its offset is lost';
      return [{ who, at: null, why }];
    }
    if (pruner.relationOf(offset.identity) !== 'other') return [];
    return [{ who, at: offset.watermark, why: `its offset is not one of ${pruner.outbox}` }];
  });
}
