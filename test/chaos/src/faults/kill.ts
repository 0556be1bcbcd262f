import { always, type Fault } from './fault.js';

/** SIGKILL, to the owner, to a standby, or to all at once. */
export const kill: Fault = {
  name: 'kill',
  victim: 'owner',
  weight: 14,
  excuses: [],
  applies: always,
  async strike({ crew }, random, say) {
    const whom = random.weighted({ owner: 7, standby: 1, all: 2 });
    const owner = crew.owner();
    const victims = crew.alive.filter((life) => whom === 'all' || (life === owner) === (whom === 'owner'));
    say(`SIGKILL to ${victims.map(({ run }) => `run ${String(run)}`).join(', ') || 'nobody'} (${whom})`);
    await Promise.all(victims.map((life) => life.kill()));
  },
};
