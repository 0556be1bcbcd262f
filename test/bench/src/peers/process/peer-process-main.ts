import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { historyWriter } from '@strandline/test-kit';
import { ordinalOf } from '../../databases/payload.js';
import { PeerRecord } from '../peer-record.js';
import type { PeerRow, PeerTask } from '../peer.js';
import type { Handle } from './kind.js';
import { KINDS } from './kinds.js';
import type { FromPeer, ToPeer } from './messages.js';

/** Keys of a run in which calls are written down: few, so that each has many rows. */
const FEW_KEYS = 20;

/** The entry of each peer's process: it consumes until it is stopped, killed, or has seen what it had to. */
function tell(message: FromPeer): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, () => {
      resolve();
    });
  });
}

/** An async handler that does nothing, but lasts for a turn of the microtasks: another one of its key would be seen. */
function noting(record: PeerRecord): Handle {
  return async ({ key, payload }) => {
    const number = Number(key);
    record.begin(number, ordinalOf(payload));
    await Promise.resolve();
    record.end(number);
  };
}

function writingDown({ file, run, work }: Extract<PeerTask, { kind: 'history' }>): Handle {
  const write = historyWriter(file);
  return async ({ id, key }: PeerRow) => {
    const call = { run, attempt: 1, key, ids: [id], positions: [''] };
    write({ ...call, what: 'started', at: Date.now() });
    if (work > 0) await sleep(Math.random() * work);
    write({ ...call, what: 'succeeded', at: Date.now() });
  };
}

async function main({ kind, place, task }: Extract<ToPeer, { what: 'start' }>): Promise<void> {
  if (task.kind === 'speed') {
    const record = new PeerRecord(task);
    void record.reading.then(async (reading) => {
      await tell({ what: 'reading', reading });
      // What it holds is of no use any more: it is loaded anew for the next one.
      process.exit(0);
    });
    await KINDS[kind].consume(place, noting(record), { keys: task.keys });
  } else {
    const consumption = await KINDS[kind].consume(place, writingDown(task), { keys: FEW_KEYS });
    process.on('message', (message: ToPeer) => {
      if (message.what === 'stop') void consumption.stop().then(() => process.exit(0));
    });
  }
  await tell({ what: 'ready' });
}

// The parent is gone: nobody waits for a result.
process.on('disconnect', () => process.exit(1));

const [order] = (await once(process, 'message')) as [ToPeer];
try {
  if (order.what === 'start') await main(order);
} catch (error) {
  await tell({
    what: 'failed',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  process.exit(1);
}
