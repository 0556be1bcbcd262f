import type { OffsetStore } from '@strandline/core';

/** An offset store that passes everything on, except for what a test does otherwise. */
export function offsetsWith(store: OffsetStore, otherwise: Partial<OffsetStore>): OffsetStore {
  return {
    name: store.name,
    bookmarks: store.bookmarks,
    instances: store.instances,
    controls: store.controls,
    load: (pipeline) => store.load(pipeline),
    claim: (pipeline, seed) => store.claim(pipeline, seed),
    commit: (pipeline, offset) => store.commit(pipeline, offset),
    replace: (pipeline, read, by) => store.replace(pipeline, read, by),
    replaced: (pipeline) => store.replaced(pipeline),
    close: () => store.close(),
    ...otherwise,
  };
}
