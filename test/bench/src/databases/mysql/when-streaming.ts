import ZongJi from '@vlasky/zongji';

/** A pipeline connects its dump after it has started, and no status has when; the library says so of each dump. */
export function whenStreaming(): Promise<void> {
  return new Promise((resolve) => {
    // oxlint-disable-next-line typescript/unbound-method -- called below with the instance as `this`
    const original = ZongJi.prototype.start;
    ZongJi.prototype.start = function start(this: ZongJi, ...args: Parameters<typeof original>): void {
      this.once('ready', resolve);
      original.apply(this, args);
    };
  });
}
