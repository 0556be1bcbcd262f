/** The heaviest few of many, one look at each. */
export class Top<T> {
  readonly #most: number;
  readonly #items: { readonly item: T; readonly weight: number }[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  offer(item: T, weight: number): void {
    const items = this.#items;
    if (items.length === this.#most && weight <= (items.at(-1)?.weight ?? -Infinity)) return;
    let place = items.length;
    while (place > 0 && weight > (items[place - 1]?.weight ?? Infinity)) place -= 1;
    items.splice(place, 0, { item, weight });
    if (items.length > this.#most) items.pop();
  }

  /** Heaviest first; of equal ones, the one that came first. */
  get items(): T[] {
    return this.#items.map(({ item }) => item);
  }
}
