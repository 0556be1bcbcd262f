/** So few that two writers often want the same order, so many that keys run side by side. */
const OPEN_ORDERS = 40;

/** Orders that are on their way. The writers share them and choose at random. */
export class OpenOrders {
  readonly #ids: string[] = [];

  /** An order to move on; undefined when a new one should be placed. */
  choose(): string | undefined {
    if (this.#ids.length < OPEN_ORDERS) return undefined;
    return this.#ids[Math.floor(Math.random() * this.#ids.length)];
  }

  add(id: string): void {
    this.#ids.push(id);
  }

  remove(id: string): void {
    const index = this.#ids.indexOf(id);
    if (index >= 0) this.#ids.splice(index, 1);
  }
}
