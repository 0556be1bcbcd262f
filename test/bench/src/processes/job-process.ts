import { once } from 'node:events';
import { DRIVERS } from '../databases/drivers.js';
import { waitOnly } from '../readers/bare-waits.js';
import { readWithLiveKeys } from '../readers/live-keys.js';
import { readNoting } from '../readers/noting.js';
import { readAndRelease } from '../readers/releasing.js';
import { readWithStrandline } from '../readers/strandline.js';
import { readWithTrouble } from '../readers/troubled.js';
import { writePaced } from '../writer/paced-writer.js';
import type { Order, Report } from './jobs.js';

/** The entry of each measuring process: one order in, one result out. */
function tell(report: Report): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(report, (error: Error | null) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}

const ready = (): void => void tell({ kind: 'ready' });

function carryOut(order: Order): Promise<unknown> {
  switch (order.job) {
    case 'strandline':
      return readWithStrandline(order.settings, ready);
    case 'troubled':
      return readWithTrouble(order.settings, ready);
    case 'releasing':
      return readAndRelease(order.settings, ready);
    case 'liveKeys':
      return readWithLiveKeys(order.settings, ready);
    case 'noting':
      return readNoting(order.settings, ready);
    case 'bareWaits':
      return waitOnly(order.settings, ready);
    case 'bare':
      return DRIVERS[order.settings.database].readBare(order.settings, ready);
    case 'writer':
      return writePaced(order.settings);
  }
}

// The parent is gone: nobody waits for a result.
process.on('disconnect', () => process.exit(1));

const [order] = (await once(process, 'message')) as [Order];
try {
  await tell({ kind: 'result', result: await carryOut(order) });
} catch (error) {
  await tell({
    kind: 'failed',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
}
process.exit(0);
