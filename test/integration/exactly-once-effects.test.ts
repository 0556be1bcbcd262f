import { setTimeout as sleep } from 'node:timers/promises';
import {
  databaseKinds,
  EffectCounters,
  PipelineRuns,
  testOutbox,
  type CommittedEvent,
} from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';

/** Less than what a process gets done while it is killed again and again. */
const LOAD = { linger: 60 };
const retry = { attempts: 1_000, initialDelay: 5, maxDelay: 50 };

/** How many events of each key committed. */
function perKey(committed: readonly CommittedEvent[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { key } of committed) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function sorted(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

describe.each(databaseKinds)('%s: what a handler does by an inbox takes effect once', (kind) => {
  test(
    'when the process is killed at random instants under load',
    // A process is started again and again, on a machine that is busy with others.
    { timeout: 150_000 },
    async () => {
      const kills = 4;
      await using outbox = await testOutbox(kind);
      const counters = await EffectCounters.create(outbox.url);
      const witness = await outbox.witness();
      await using runs = await PipelineRuns.prepare(outbox, {
        name: 'effects',
        source: { reconnect: { maxDelay: 200 } },
        tuning: { retry },
        behaviour: { delay: 10, jitter: true, failRate: 0.05 },
        effects: outbox.url,
      });
      const { history } = runs;
      await (await runs.start()).kill();

      await using writers = outbox.writers(LOAD);
      for (let kill = 0; kill < kills; kill += 1) {
        const life = runs.launch();
        const hasStarted = (): boolean => history.ids('started', life.run).length > 0;
        await history.until(`run ${String(life.run)} handles events`, hasStarted);
        // An instant that nothing chose: before, in and after the commit of effects, and of the offset.
        await sleep(Math.random() * 300);
        await life.kill();
      }
      await writers.stop();
      const last = await runs.start();
      const committed = await witness.events();
      await counters.until(committed.length);
      expect(await last.stop()).toEqual({ code: 0, signal: null });

      expect(committed.length).toBeGreaterThan(200);
      expect(sorted(await counters.counts())).toEqual(sorted(perKey(committed)));
    },
  );

  test(
    'when owners are stopped in the middle of effects, lose the log to another one, and go on',
    { timeout: 120_000 },
    async () => {
      await using outbox = await testOutbox(kind);
      const counters = await EffectCounters.create(outbox.url);
      const witness = await outbox.witness();
      await using runs = await PipelineRuns.prepare(outbox, {
        name: 'resumed',
        source: { reconnect: { maxDelay: 200 } },
        tuning: { retry },
        behaviour: { delay: 20, jitter: true },
        effects: outbox.url,
      });
      const { history } = runs;
      const sessions = outbox.sessionsOf('resumed');
      let owner = await runs.start();
      let standby = await runs.start();
      await using writers = outbox.writers(LOAD);
      for (let round = 0; round < 3; round += 1) {
        await standby.untilStatus('it stands by', ({ state }) => state === 'standby');
        const { run } = owner;
        const before = history.refresh().ids('started', run).length;
        const isAtWork = (): boolean => history.ids('started', run).length > before + 20;
        await history.until('the owner is at work', isAtWork);
        owner.signal('SIGSTOP');
        await sessions.end('owner');
        const former = owner;
        [owner, standby] = [standby, owner];
        await owner.untilStatus('it owns the log', ({ state }) => state === 'running');
        // What the former owner has begun is delivered to the other one meanwhile, and waits there for how it ends.
        await sleep(Math.random() * 300);
        former.signal('SIGCONT');
      }
      await writers.stop();
      const committed = await witness.events();
      await counters.until(committed.length);
      for (const each of [standby, owner]) expect(await each.stop()).toEqual({ code: 0, signal: null });

      expect(committed.length).toBeGreaterThan(100);
      expect(sorted(await counters.counts())).toEqual(sorted(perKey(committed)));
    },
  );
});
