import type {
  HeldBack,
  OldPartition,
  OutboxPruner,
  Position,
  RegisteredPipeline,
  RowKey,
  RowsLook,
  ServerLoad,
} from '@strandline/core';
import { offsetAt, position } from '../fixtures.js';

interface Row {
  readonly id: number;
  /** Its place in the log; null while its transaction is open. */
  commit: number | null;
  partition: string | null;
}

const placeOf = (text: Position): number => Number(text.slice(1));

/**
 * An outbox as a pruner sees it, whose transactions commit and whose pipelines settle between any two calls, as `meanwhile`
 * has it. What is deleted is held against what all have settled by then.
 */
export class FakeOutbox implements OutboxPruner {
  readonly outbox = 'shop.outbox';
  readonly rows: Row[] = [];
  readonly watermarks = new Map<string, number>();
  /** Of what was deleted too early. */
  readonly broken: string[] = [];
  readonly aside = new Set<string>();
  loads: ServerLoad = { active: 0, replicas: [] };
  removed = 0;
  dropped = 0;
  /** Rows that are in use. */
  readonly locked = new Set<number>();
  readonly chunks: number[] = [];
  log = 0;

  constructor(readonly meanwhile: () => void = () => undefined) {}

  registered(): readonly RegisteredPipeline[] {
    return [...this.watermarks].map(([pipeline, at]) => ({ pipeline, offset: offsetAt(at) }));
  }

  begin(id: number, partition: string | null = null): Row {
    // What was set aside takes no rows any more.
    const row = { id, commit: null, partition: this.aside.has(partition ?? '') ? null : partition };
    this.rows.push(row);
    return row;
  }

  commit(row: Row): void {
    row.commit = this.log += 1;
  }

  relationOf = (): 'reads' => 'reads';

  look(after: RowKey | null, limit: number): Promise<RowsLook> {
    const from = after === null ? -Infinity : Number(after[0]);
    const seen = this.rows
      .filter(({ id, commit, partition }) => commit !== null && id > from && !this.aside.has(partition ?? ''))
      .sort((a, b) => a.id - b.id)
      .slice(0, Math.min(limit, 3))
      .map(({ id }) => [String(id)]);
    return this.#answer({
      old: seen,
      looked: seen.length,
      last: seen.length < 3 ? null : (seen.at(-1) ?? null),
    });
  }

  end(): Promise<Position> {
    return this.#answer(position(this.log));
  }

  heldBack(end: Position, pipelines: readonly RegisteredPipeline[]): Promise<readonly HeldBack[]> {
    return this.#answer(
      pipelines
        .filter(({ offset }) => placeOf(offset.watermark) < placeOf(end))
        .map(({ pipeline, offset }) => ({ who: `pipeline ${pipeline}`, at: offset.watermark, why: 'later' })),
    );
  }

  remove(keys: readonly RowKey[]): Promise<number | 'locked'> {
    const ids = new Set(keys.map(([id]) => Number(id)));
    if ([...ids].some((id) => this.locked.has(id))) return this.#answer('locked');
    this.chunks.push(keys.length);
    return this.#answer(this.#delete((row) => ids.has(row.id) && row.commit !== null));
  }

  partitions(): Promise<readonly OldPartition[]> {
    const names = new Set(this.rows.flatMap(({ partition }) => partition ?? []));
    return this.#answer([...names].map((name) => ({ name, setAside: this.aside.has(name) })));
  }

  setAside({ name }: OldPartition): Promise<'done' | 'locked'> {
    const inUse = this.rows.some(({ partition, commit }) => partition === name && commit === null);
    if (!inUse) this.aside.add(name);
    return this.#answer(inUse ? 'locked' : 'done');
  }

  drop({ name }: OldPartition): Promise<'done'> {
    this.dropped += 1;
    this.#delete((row) => row.partition === name);
    return this.#answer('done');
  }

  load(): Promise<ServerLoad> {
    return this.#answer(this.loads);
  }

  survey(): Promise<{ old: number; oldest: null }> {
    return this.#answer({ old: this.rows.length, oldest: null });
  }

  oldest(): Promise<null> {
    return Promise.resolve(null);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  #delete(which: (row: Row) => boolean): number {
    const gone = this.rows.filter(which);
    const least = Math.min(...this.watermarks.values());
    for (const { id, commit } of gone)
      if (commit === null || commit > least)
        this.broken.push(`row ${String(id)} at ${String(commit)}, settled ${String(least)}`);
    for (const row of gone) this.rows.splice(this.rows.indexOf(row), 1);
    this.removed += gone.length;
    return gone.length;
  }

  #answer<T>(value: T): Promise<T> {
    this.meanwhile();
    return Promise.resolve(value);
  }
}
