import { setTimeout as sleep } from 'node:timers/promises';
import { always, UNREACHABLE, type Fault } from './fault.js';

/** The database's server is stopped (fast or at once) or killed, and comes back. */
export const databaseRestart: Fault = {
  name: 'database-restart',
  victim: 'database',
  weight: 8,
  excuses: UNREACHABLE,
  applies: always,
  async strike({ database, crew }, random, say) {
    const how = random.pick(database.endings);
    const ms = random.between(0, 3_000);
    say(`the ${database.name} server ends (${how})`);
    // Whoever is back first owns the log. Some lose their sessions at the beginning of the end, some at its end.
    for (const life of crew.alive) life.cutOff();
    await database.down(how);
    for (const life of crew.alive) life.cutOff();
    await sleep(ms);
    await database.up();
    say('it is back');
  },
};
