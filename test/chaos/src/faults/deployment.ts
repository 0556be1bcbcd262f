import { always, type Fault } from './fault.js';

/** The owner is stopped in order and started again, as at a deployment. */
export const deployment: Fault = {
  name: 'deployment',
  victim: 'owner',
  weight: 4,
  excuses: [],
  applies: always,
  async strike({ crew }, _random, say) {
    const owner = crew.owner();
    if (owner === undefined) return;
    say(`run ${String(owner.run)} is to stop in order`);
    await crew.stopOne(owner);
  },
};
