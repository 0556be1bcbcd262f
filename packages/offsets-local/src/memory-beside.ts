import type { Bookmark, Controls, InstanceReport, Offset, ReplacedOffset } from '@strandline/core';

/** What a storage holds of pipelines beside their offsets. */
export interface Beside {
  /** The offsets that somebody has put there, and nobody has claimed since. */
  readonly vacant: WeakSet<Offset>;
  /** Of pipelines that were reset: the epoch, which goes on growing. */
  readonly resetAt: Map<string, number>;
  readonly replaced: Map<string, ReplacedOffset>;
  readonly bookmarks: Map<string, Map<string, Bookmark>>;
  readonly controls: Map<string, Controls>;
  readonly instances: Map<string, Map<string, { readonly report: InstanceReport; readonly until: number }>>;
}

/** By the storage, so that all stores on one have the same. */
const besides = new WeakMap<Map<string, Offset>, Beside>();

export function besideOf(storage: Map<string, Offset>): Beside {
  const known = besides.get(storage);
  if (known !== undefined) return known;
  const beside: Beside = {
    vacant: new WeakSet(),
    resetAt: new Map(),
    replaced: new Map(),
    bookmarks: new Map(),
    controls: new Map(),
    instances: new Map(),
  };
  besides.set(storage, beside);
  return beside;
}
