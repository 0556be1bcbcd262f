/** Whether one of the entries of synchronous_standby_names (`a, b`, `FIRST 1 (a, b)`, `ANY 1 (a, b)`) is `*`. */
export function namesEveryone(names: string): boolean {
  const list = /\((.*)\)/.exec(names)?.[1] ?? names;
  return list.split(',').some((name) => /^\s*"?\*"?\s*$/.test(name));
}
