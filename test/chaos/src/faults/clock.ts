import { setTimeout as sleep } from 'node:timers/promises';
import { always, type Fault } from './fault.js';

const MINUTE = 60_000;

/** The clock of one process jumps by minutes or hours, and is put right again. */
export const clock: Fault = {
  name: 'clock',
  victim: 'process',
  weight: 6,
  excuses: [],
  applies: always,
  async strike({ crew }, random, say) {
    const far = random.chance(0.5) ? random.between(1, 10) : random.between(30, 48 * 60);
    const ahead = (random.chance(0.5) ? far : -far) * MINUTE;
    const ms = random.between(500, 10_000);
    const owner = crew.owner();
    if (owner === undefined) return;
    say(`the clock of run ${String(owner.run)} is off by ${String(ahead / MINUTE)} min for ${String(ms)} ms`);
    owner.process.setClock(ahead);
    await sleep(ms);
    owner.process.setClock(0);
  },
};
