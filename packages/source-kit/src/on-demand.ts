import type { Source } from '@strandline/core';

/**
 * A source whose code, and with it the library that it stands on, is loaded when something is asked of it first. A
 * program that imports all sources (package `strandline`, and so every config and command) loads those that it uses.
 */
export function sourceOnDemand(name: string, load: () => Promise<Required<Source>>): Source {
  let loading: Promise<Required<Source>> | undefined;
  const loaded = (): Promise<Required<Source>> => (loading ??= load());
  return {
    name,
    open: async (request) => (await loaded()).open(request),
    reader: async (request) => (await loaded()).reader(request),
    inspect: async (request) => (await loaded()).inspect(request),
    diagnose: async (request) => (await loaded()).diagnose(request),
    pruner: async (request) => (await loaded()).pruner(request),
  };
}
