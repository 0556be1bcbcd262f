import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judge } from '../src/checker/judge.js';
import { faultless, idsOf, type Judgement } from '../src/checker/judgement.js';
import type { HistoryEntry } from '../src/history.js';
import { CorrectRun, type Draw, type Run } from './correct-run.js';

/** More on request: `JUDGE_RUNS=100000 npx vitest run --project unit test/kit/test/judge-properties.test.ts`. */
const numRuns = Number(process.env['JUDGE_RUNS'] ?? 200);
const patience = { timeout: 20_000 + 50 * numRuns };

function judged({ committed, calls, ...options }: Run): Judgement {
  return judge(committed, calls, options);
}

test('a run that does everything right has no fault, and every duplicate is told', patience, () => {
  fc.assert(
    fc.property(fc.gen(), (draw) => {
      const run = CorrectRun.of(draw);
      const judgement = judged(run);
      expect(judgement).toMatchObject(faultless);
      expect(new Set(idsOf(judgement.duplicates))).toEqual(run.duplicates);
      if (run.paused.size === 0) expect(judgement.tolerated).toEqual([]);
    }),
    { numRuns },
  );
});

/** Makes a run wrong, or tells that this one has no place for it. */
type Plant = (run: Run, draw: Draw) => boolean;

const pick = <T>(draw: Draw, from: readonly T[]): T | undefined =>
  from.length === 0 ? undefined : from[draw(fc.nat, { max: from.length - 1 })];

const started = ({ calls }: Run): HistoryEntry[] => calls.filter(({ what }) => what === 'started');

/** Where the call ends, if it does. */
function endOf({ calls }: Run, call: HistoryEntry): number {
  const from = calls.indexOf(call);
  return calls.findIndex(
    ({ what, run, ids }, index) =>
      index > from && what !== 'started' && run === call.run && ids.join() === call.ids.join(),
  );
}

const faults: Record<string, readonly [keyof typeof faultless, Plant]> = {
  'an event that is never called': [
    'missed',
    (run, draw) => {
      const key = pick(draw, run.committed)?.key ?? '';
      run.committed.splice(draw(fc.nat, { max: run.committed.length }), 0, { id: 'lost', key });
      return true;
    },
  ],
  'an event whose calls never end well': [
    'missed',
    (run, draw) => {
      const keys = new Map(run.committed.map(({ key, id }) => [key, id]));
      const lost = pick(draw, [...keys.values()]) ?? ''; // the last one of its key
      const of = run.calls.filter(({ ids }) => ids.includes(lost));
      if (of.some(({ ids }) => ids.length > 1)) return false;
      run.calls = run.calls.filter((entry) => !of.includes(entry) || entry === of[0]);
      return true;
    },
  ],
  'two neighbours that changed places': [
    'swaps',
    ({ committed }, draw) => {
      const pairs = committed.flatMap((row, index) => {
        const other = committed.findIndex(({ key }, at) => at > index && key === row.key);
        return other < 0 ? [] : [[index, other] as const];
      });
      const pair = pick(draw, pairs);
      if (pair === undefined) return false;
      const [a, b] = [committed[pair[0]], committed[pair[1]]];
      if (a !== undefined) committed[pair[1]] = a;
      if (b !== undefined) committed[pair[0]] = b;
      return true;
    },
  ],
  'a call that is made twice at once': [
    'overlaps',
    (run, draw) => {
      const call = pick(draw, started(run));
      if (call === undefined) return false;
      const end = endOf(run, call);
      if (end >= 0) run.calls.splice(end, 0, ...run.calls.slice(end, end + 1));
      run.calls.splice(run.calls.indexOf(call), 0, call);
      return true;
    },
  ],
  'a life that goes on living beside its successor': [
    'overlaps',
    (run, draw) => {
      const inFlight = started(run).filter((call) => run.ended.has(call.run) && endOf(run, call) < 0);
      const call = pick(draw, inFlight);
      if (call === undefined) return false;
      run.ended.delete(call.run);
      return started(run).some(({ run: other, key }) => other > call.run && key === call.key);
    },
  ],
  'a paused life that goes on calling': [
    'overlaps',
    (run, draw) => {
      const life = pick(draw, [...run.paused.keys()]);
      const last = started(run).at(-1);
      const own = started(run).findLast((call) => call.run === life);
      if (life === undefined || last === undefined || own === undefined || last.run <= life) return false;
      // From one that has ended or is paused itself it may take over.
      if (run.ended.has(last.run) || run.paused.has(last.run)) return false;
      const at = (run.calls.at(-1)?.at ?? 0) + 1;
      const call = { ...last, run: life, attempt: 1, at };
      run.calls.push(call, { ...call, what: 'succeeded' });
      return true;
    },
  ],
  'an event that is called again when it is settled': [
    'repeats',
    (run, draw) => {
      // By its owner: a life that was replaced would do more than one thing wrong.
      const owned = run.calls.filter(
        ({ what, run: life }, index) =>
          what === 'succeeded' &&
          run.calls.slice(0, index).findLast((entry) => entry.what === 'started')?.run === life,
      );
      const success = pick(draw, owned);
      if (success === undefined) return false;
      const again = { ...success, attempt: 1 };
      run.calls.splice(run.calls.indexOf(success) + 1, 0, { ...again, what: 'started' }, again);
      return true;
    },
  ],
  'what was settled by a life that stopped in order': [
    'repeats',
    (run, draw) => {
      // Killed lives that are said to have stopped in order, of which something comes again.
      const killed = [...run.ended.keys()].filter((life) => !run.stopped.has(life));
      const settled = run.calls.filter(
        ({ what, run: life }) => what === 'succeeded' && killed.includes(life),
      );
      const again = settled.filter(({ ids, run: life }) =>
        started(run).some((call) => call.run > life && call.ids.some((id) => ids.includes(id))),
      );
      const success = pick(draw, again);
      if (success === undefined) return false;
      run.stopped.add(success.run);
      return true;
    },
  ],
  'an event that was rolled back': [
    'strays',
    (run, draw) => {
      run.committed.splice(draw(fc.nat, { max: run.committed.length - 1 }), 1);
      return true;
    },
  ],
  'a wrong attempt': [
    'strays',
    (run, draw) => change(run, draw, ({ attempt }) => ({ attempt: attempt + 1 })),
  ],
  'a wrong position': [
    'strays',
    (run, draw) => change(run, draw, ({ ids }) => ({ positions: ids.map(() => 'p0') })),
  ],
  'an end without a start': [
    'strays',
    (run, draw) => {
      const success = pick(
        draw,
        run.calls.filter(({ what }) => what === 'succeeded'),
      );
      if (success === undefined) return false;
      run.calls.push({ ...success, at: (run.calls.at(-1)?.at ?? 0) + 1 });
      return true;
    },
  ],
};

/** Changes how a call starts. */
function change(run: Run, draw: Draw, how: (call: HistoryEntry) => Partial<HistoryEntry>): boolean {
  const call = pick(draw, started(run));
  if (call === undefined) return false;
  run.calls[run.calls.indexOf(call)] = { ...call, ...how(call) };
  return true;
}

describe('one fault in a run that does everything else right is found, and no other kind', () => {
  test.each(Object.entries(faults))('%s', patience, (_, [kind, plant]) => {
    fc.assert(
      fc.property(fc.gen(), (draw) => {
        const run = CorrectRun.of(draw);
        fc.pre(plant(run, draw));
        const judgement = judged(run);
        expect(judgement).toMatchObject({ ...faultless, [kind]: expect.anything() as unknown });
        expect(judgement[kind].length).toBeGreaterThan(0);
        for (const { excerpt } of judgement[kind]) expect(excerpt.split('\n').length).toBeLessThan(12);
      }),
      { numRuns, maxSkipsPerRun: 1_000 },
    );
  });
});
