import { always, type Fault } from './fault.js';

/** The log begins a new file, and often what lies before the saved offset is thrown away. */
export const logRotation: Fault = {
  name: 'log-rotation',
  victim: 'database',
  weight: 8,
  excuses: [],
  applies: always,
  async strike({ database, watch, readCommitted }, random, say) {
    const purges = random.chance(0.7);
    await database.rotate();
    say('the log has a new file');
    if (!purges) return;
    // Read before the offset is looked at: what lies before that is read then.
    await readCommitted();
    const { latest } = watch;
    if (latest === null) return;
    say(`purged behind ${latest.watermark}: ${await database.purge(latest.watermark)}`);
  },
};
