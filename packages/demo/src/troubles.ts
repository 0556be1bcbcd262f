import { setTimeout as delay } from 'node:timers/promises';
import { PermanentError } from 'strandline';

/** Of so many orders one is in this trouble. Primes: no order is in two of them before the 600th. */
const REFUSED = 31;
const UNREACHABLE = 29;
const SLOW = 67;

/** Milliseconds for which the carrier can't be reached, and that it takes for a slow order. */
const OUTAGE = 120_000;
const SLOWNESS = 40_000;

/** `handlerTimeout` while there are such orders. */
export const PATIENCE = 15_000;

/**
 * What some orders' events meet while the demo stays up, so that there is something to look at: one in 31 is refused for
 * good, one in 29 fails for two minutes, one in 67 takes longer than it may. Throws what the handler is to throw.
 */
export class Troubles {
  readonly #since = new Map<string, number>();

  async meet(order: string, attempt: number, signal: AbortSignal): Promise<void> {
    const id = Number(order);
    if (id % REFUSED === 0) throw new PermanentError('the carrier does not deliver to this address');
    if (id % UNREACHABLE === 0 && this.#isOut(order)) {
      throw attempt <= 3
        ? coded('CARRIER_TIMEOUT', 'the carrier did not answer within 2 s')
        : coded('CARRIER_UNAVAILABLE', 'the carrier answered 503 Service Unavailable');
    }
    // It heeds the signal: a handler that does not would keep its key even from an operator.
    if (id % SLOW === 0 && attempt === 1) await delay(SLOWNESS, undefined, { signal });
  }

  #isOut(order: string): boolean {
    const since = this.#since.get(order) ?? Date.now();
    this.#since.set(order, since);
    return Date.now() - since < OUTAGE;
  }
}

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
