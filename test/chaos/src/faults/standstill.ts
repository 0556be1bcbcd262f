import { setTimeout as sleep } from 'node:timers/promises';
import { always, type Fault } from './fault.js';

/** SIGSTOP to the owner, and SIGCONT: shorter and longer than the servers' patience with it. */
export const standstill: Fault = {
  name: 'standstill',
  victim: 'process',
  weight: 8,
  excuses: [],
  applies: always,
  async strike({ crew }, random, say) {
    const ms = random.chance(0.6) ? random.between(100, 3_000) : random.between(6_000, 16_000);
    const owner = crew.owner();
    if (owner === undefined) return;
    say(`SIGSTOP to run ${String(owner.run)} for ${String(ms)} ms`);
    owner.pause();
    await sleep(ms);
    owner.resume();
  },
};
