import { setTimeout as sleep } from 'node:timers/promises';
import { OFFSETS_AWAY, type Fault } from './fault.js';

/** The disk that all of them keep their offsets on is full for a while. */
export const diskFull: Fault = {
  name: 'disk-full',
  victim: 'disk',
  weight: 10,
  excuses: OFFSETS_AWAY,
  applies: ({ offsets }) => offsets === 'file',
  async strike({ crew }, random, say) {
    const ms = random.between(200, 8_000);
    const { alive } = crew;
    say(`no room for offsets, for ${String(ms)} ms`);
    for (const { process } of alive) process.fillDisk(true);
    await sleep(ms);
    for (const { process } of alive) process.fillDisk(false);
  },
};
