import { describe, expect, test } from 'vitest';
import { judge } from '../src/checker/judge.js';
import { faultless, idsOf, onceEach, type JudgeOptions } from '../src/checker/judgement.js';
import type { HistoryEntry } from '../src/history.js';
import { briefly, committed, entriesOf, handled, judged } from './histories.js';

/** A life that was killed, or stopped, at the time of an entry. */
const over = (run: number, at: number): JudgeOptions => ({ ended: new Map([[run, at]]) });

describe('a history that keeps the promises', () => {
  test.each([
    ['in commit order', handled(1, '1', '2', '3', '4', '5')],
    ['keys in any order among themselves', handled(1, '2', '1', '3', '4', '5')],
    ['keys at once', ['1 started 1', ...handled(1, '2'), '1 succeeded 1', ...handled(1, '3', '4', '5')]],
    [
      'retries, while other keys go on',
      [
        ...['1 started 1', '1 failed 1', '1 started 1 2', '1 failed 1 2', ...handled(1, '2')],
        ...['1 started 1 3', '1 succeeded 1 3', ...handled(1, '3', '4', '5')],
      ],
    ],
    ['batches', ['1 started 1,3', '1 succeeded 1,3', ...handled(1, '2'), '1 started 4,5', '1 succeeded 4,5']],
    [
      'a batch that is tried again as it was',
      ['1 started 1,3', '1 failed 1,3', '1 started 1,3 2', '1 succeeded 1,3 2', ...handled(1, '2', '4', '5')],
    ],
    ['a stop in order between two', [...handled(1, '1', '2'), ...handled(2, '3', '4', '5')]],
  ])('%s', (_, lines) => {
    expect(judged(lines, { stopped: new Set([1]) })).toEqual(onceEach);
  });

  test.each<[string, string[], JudgeOptions, string[]]>([
    [
      'the one that was in flight when the process was killed',
      [...handled(1, '1', '2'), '1 started 3', ...handled(2, '3', '4', '5')],
      over(1, 6),
      ['3'],
    ],
    [
      'one that had failed and was to be tried again',
      [...handled(1, '1', '2'), '1 started 3', '1 failed 3', ...handled(2, '3', '4', '5')],
      over(1, 6),
      ['3'],
    ],
    ['a suffix', [...handled(1, '1', '2', '3', '4'), ...handled(2, '3', '4', '5')], over(1, 9), ['3', '4']],
    [
      'two suffixes, of which the shorter one was cut short',
      [...handled(1, '1', '2', '3'), ...handled(2, '1'), ...handled(3, '1', '3', '4', '5')],
      {
        ended: new Map([
          [1, 7],
          [2, 9],
        ]),
      },
      ['1', '3'],
    ],
    [
      'in other batches than before',
      ['1 started 1,3', ...handled(2, '1', '2'), '2 started 3,4', '2 succeeded 3,4', ...handled(2, '5')],
      over(1, 2),
      ['1', '3'],
    ],
    [
      'what a life had in flight that stopped in order and did not wait for it',
      [...handled(1, '1', '2'), '1 started 3', ...handled(2, '3', '4', '5')],
      { ...over(1, 6), stopped: new Set([1]) },
      ['3'],
    ],
  ])('again in a later life: %s', (_, lines, options, duplicates) => {
    const judgement = judged(lines, options);
    expect(judgement).toEqual({ ...onceEach, duplicates: judgement.duplicates });
    expect(idsOf(judgement.duplicates)).toEqual(duplicates);
  });

  test('a duplicate is shown with how it went before', () => {
    const [duplicate] = judged(
      [...handled(1, '1', '2', '3'), ...handled(2, '3', '4', '5')],
      over(1, 7),
    ).duplicates;
    expect(duplicate).toEqual({
      key: 'a',
      ids: ['3'],
      says: '3 starts again in life 2.',
      excerpt: [
        'commit 3: 3 of key a, 0/200:1',
        'call 5: life 1 started 3 of key a, attempt 1',
        'call 6: life 1 succeeded 3 of key a, attempt 1',
        'call 7: life 2 started 3 of key a, attempt 1',
      ].join('\n'),
    });
  });

  test('a take-over from a paused life: what that one had in flight is tolerated, and told', () => {
    const lines = [
      ...handled(1, '1', '2'),
      ...['1 started 3', '2 started 3', '1 succeeded 3', '2 succeeded 3', ...handled(2, '4', '5')],
    ];
    const judgement = judged(lines, { paused: new Map([[1, [5.5]]]) });
    expect(briefly(judgement)).toEqual(['duplicates 3', 'tolerated 3 3']);
    expect(judgement.tolerated[0]?.says).toBe('3 starts while 3 runs in life 1, which was paused since.');
    expect(briefly(judged(lines))).toEqual(['overlaps 3 3', 'duplicates 3']);
  });

  test('what a paused life had settled and could not save any more, though it stopped in order later', () => {
    const lines = [...handled(1, '1', '2', '3'), ...handled(2, '3', '4', '5')];
    const options = { paused: new Map([[1, [6.5]]]), ended: new Map([[1, 6.8]]), stopped: new Set([1]) };
    expect(briefly(judged(lines, options))).toEqual(['duplicates 3']);
  });

  test('a paused life that owns the log again, once its successor has ended', () => {
    const lines = [...handled(1, '1', '2'), ...handled(2, '3', '4'), ...handled(1, '4', '5')];
    expect(briefly(judged(lines, { paused: new Map([[1, [4.5]]]), ended: new Map([[2, 9]]) }))).toEqual([
      'duplicates 4',
    ]);
  });
});

describe('events that fail for good', () => {
  const parked = [...handled(1, '1', '2'), '1 started 3', '1 failed 3'];
  const broken = new Set(['3']);

  test('are tried anew when their key is released, in the same life or a later one', () => {
    const lines = [...parked, '1 started 3', '1 failed 3', ...handled(1, '3', '4', '5')];
    expect(judged(lines, { broken })).toEqual(onceEach);
    const later = [...parked, ...handled(2, '3', '4', '5')];
    expect(briefly(judged(later, { broken, ...over(1, 7) }))).toEqual(['duplicates 3']);
  });

  test('are not overtaken', () => {
    expect(briefly(judged([...parked, ...handled(1, '4', '3', '5')], { broken }))).toEqual(['swaps 3 4']);
    expect(briefly(judged([...parked, ...handled(2, '4', '3', '5')], { broken }))).toContain('swaps 3 4');
  });

  test('may be left out by an operator, tried or not, and are not missed then', () => {
    const leftOut = new Set(['3']);
    expect(judged([...parked, ...handled(1, '4', '5')], { broken, leftOut })).toEqual(onceEach);
    expect(judged(handled(1, '1', '2', '4', '5'), { leftOut })).toEqual(onceEach);
    expect(judged([...handled(1, '1', '2'), ...handled(2, '4', '5')], { leftOut })).toEqual(onceEach);
    expect(briefly(judged([...parked, ...handled(1, '5')], { broken, leftOut }))).toEqual(['missed 4']);
    // A later life reads it again before it knows that it was left out.
    const again = [...parked, ...handled(1, '4', '5'), '2 started 3', '2 failed 3'];
    expect(briefly(judged(again, { broken, leftOut, ...over(1, 11) }))).toEqual(['duplicates 3']);
  });
});

interface Planted {
  readonly fault: string;
  readonly lines: readonly string[];
  readonly options?: JudgeOptions;
  /** All that is found: nothing else may be. */
  readonly found: readonly string[];
  readonly says: string;
  readonly excerpt: readonly string[];
}

/** With all of the history but what is planted in it. */
const planted: readonly Planted[] = [
  {
    fault: 'an event that was never called',
    lines: handled(1, '1', '2', '4', '5'),
    found: ['missed 3'],
    says: '3 has committed, and was never called.',
    excerpt: [
      'commit 3: 3 of key a, 0/200:1',
      'commit 4: 4 of key a, 0/300:1',
      'call 5: life 1 started 4 of key a, attempt 1',
    ],
  },
  {
    fault: 'the last event of a key',
    lines: handled(1, '1', '3', '4', '5'),
    found: ['missed 2'],
    says: '2 has committed, and was never called.',
    excerpt: ['commit 2: 2 of key b, 0/100:2'],
  },
  {
    fault: 'an event that only ever failed',
    lines: [...handled(1, '1', '3', '4', '5'), '1 started 2', '1 failed 2'],
    found: ['missed 2'],
    says: '2 has committed, and no call of it has succeeded.',
    excerpt: [
      'commit 2: 2 of key b, 0/100:2',
      'call 9: life 1 started 2 of key b, attempt 1',
      'call 10: life 1 failed 2 of key b, attempt 1',
    ],
  },
  {
    fault: 'an event that was in flight when the process was killed, and never came again',
    lines: [...handled(1, '1', '2'), '1 started 3', ...handled(2, '4', '5')],
    options: over(1, 6),
    found: ['missed 3'],
    says: '3 has committed, and no call of it has succeeded.',
    excerpt: [
      'commit 3: 3 of key a, 0/200:1',
      'commit 4: 4 of key a, 0/300:1',
      'call 5: life 1 started 3 of key a, attempt 1',
      'call 6: life 2 started 4 of key a, attempt 1',
    ],
  },
  {
    fault: 'two that changed places',
    lines: handled(1, '1', '2', '4', '3', '5'),
    found: ['swaps 3 4'],
    says: '4 starts before 3 has settled, which committed before it.',
    excerpt: [
      'commit 3: 3 of key a, 0/200:1',
      'commit 4: 4 of key a, 0/300:1',
      'call 5: life 1 started 4 of key a, attempt 1',
      'call 7: life 1 started 3 of key a, attempt 1',
    ],
  },
  {
    fault: 'an event that comes at the very end of its key',
    lines: handled(1, '1', '2', '4', '5', '3'),
    found: ['swaps 3 4'],
    says: '4 starts before 3 has settled, which committed before it.',
    excerpt: [
      'commit 3: 3 of key a, 0/200:1',
      'commit 4: 4 of key a, 0/300:1',
      'call 5: life 1 started 4 of key a, attempt 1',
      'call 9: life 1 started 3 of key a, attempt 1',
    ],
  },
  {
    fault: 'a gap that the next life fills',
    lines: [...handled(1, '1', '2', '4'), ...handled(2, '3', '4', '5')],
    options: over(1, 7),
    found: ['swaps 3 4', 'duplicates 4'],
    says: '4 starts before 3 has settled, which committed before it.',
    excerpt: [
      'commit 3: 3 of key a, 0/200:1',
      'commit 4: 4 of key a, 0/300:1',
      'call 5: life 1 started 4 of key a, attempt 1',
      'call 7: life 2 started 3 of key a, attempt 1',
    ],
  },
  {
    fault: 'a life that begins further on than the first that was not settled, which comes later',
    lines: [...handled(1, '2'), '1 started 1', ...handled(2, '3', '1', '4', '5')],
    options: over(1, 4),
    found: ['swaps 1 3', 'duplicates 1'],
    says: '3 starts before 1 has settled, which committed before it.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'commit 3: 3 of key a, 0/200:1',
      'call 4: life 2 started 3 of key a, attempt 1',
      'call 6: life 2 started 1 of key a, attempt 1',
    ],
  },
  {
    fault: 'a life that begins further on than what a paused one has in flight',
    lines: [
      ...handled(1, '2'),
      '1 started 1',
      '2 started 3',
      '1 succeeded 1',
      '2 succeeded 3',
      ...handled(2, '4', '5'),
    ],
    options: { paused: new Map([[1, [3.5]]]) },
    found: ['swaps 1 3', 'tolerated 1 3'],
    says: '3 starts before 1 has settled, which committed before it.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'commit 3: 3 of key a, 0/200:1',
      'call 4: life 2 started 3 of key a, attempt 1',
      'call 5: life 1 succeeded 1 of key a, attempt 1',
    ],
  },
  {
    fault: 'a head that is overtaken in backoff',
    lines: [
      ...['1 started 1', '1 failed 1', ...handled(1, '3')],
      ...['1 started 1 2', '1 succeeded 1 2', ...handled(1, '2', '4', '5')],
    ],
    found: ['swaps 1 3'],
    says: '3 starts before 1 has settled, which committed before it.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'commit 3: 3 of key a, 0/200:1',
      'call 3: life 1 started 3 of key a, attempt 1',
      'call 5: life 1 started 1 of key a, attempt 2',
    ],
  },
  {
    fault: 'a batch in another order',
    lines: ['1 started 3,1', '1 succeeded 3,1', ...handled(1, '2', '4', '5')],
    found: ['swaps 1 3'],
    says: '1 is called behind 3 in one call.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'commit 3: 3 of key a, 0/200:1',
      'call 1: life 1 started 3, 1 of key a, attempt 1',
    ],
  },
  {
    fault: 'a gap in a batch',
    lines: ['1 started 1,4', '1 succeeded 1,4', ...handled(1, '2', '3', '5')],
    found: ['swaps 3 4'],
    says: '4 starts before 3 has settled, which committed before it.',
    excerpt: [
      'commit 3: 3 of key a, 0/200:1',
      'commit 4: 4 of key a, 0/300:1',
      'call 1: life 1 started 1, 4 of key a, attempt 1',
      'call 5: life 1 started 3 of key a, attempt 1',
    ],
  },
  {
    fault: 'a life that goes back behind its own beginning',
    lines: [...handled(1, '1', '2'), '2 started 3', '2 succeeded 3', ...handled(2, '1', '4', '5')],
    options: over(1, 5),
    found: ['swaps 1 3', 'duplicates 1'],
    says: '1 starts after 3 in one life.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'commit 3: 3 of key a, 0/200:1',
      'call 5: life 2 started 3 of key a, attempt 1',
      'call 7: life 2 started 1 of key a, attempt 1',
    ],
  },
  {
    fault: 'a life that begins again and then passes over what its predecessor had settled',
    lines: [...handled(1, '1', '2', '3'), ...handled(2, '1', '4', '5')],
    options: over(1, 7),
    found: ['swaps 3 4', 'duplicates 1'],
    says: '4 starts in a life that began again before 3 and has passed it over.',
    excerpt: [
      'commit 3: 3 of key a, 0/200:1',
      'commit 4: 4 of key a, 0/300:1',
      'call 7: life 2 started 1 of key a, attempt 1',
      'call 9: life 2 started 4 of key a, attempt 1',
    ],
  },
  {
    fault: 'two of one key at once',
    lines: ['1 started 1', '1 started 3', '1 succeeded 1', '1 succeeded 3', ...handled(1, '2', '4', '5')],
    found: ['overlaps 1 3'],
    says: '3 starts while 1 runs in one life.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'commit 3: 3 of key a, 0/200:1',
      'call 1: life 1 started 1 of key a, attempt 1',
      'call 2: life 1 started 3 of key a, attempt 1',
    ],
  },
  {
    fault: 'two of one key at once, of which the first one fails and is tried again',
    lines: [
      ...['1 started 1', '1 started 3', '1 succeeded 3', '1 failed 1', '1 started 1 2', '1 succeeded 1 2'],
      ...handled(1, '2', '4', '5'),
    ],
    found: ['overlaps 1 3'],
    says: '3 starts while 1 runs in one life.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'commit 3: 3 of key a, 0/200:1',
      'call 1: life 1 started 1 of key a, attempt 1',
      'call 2: life 1 started 3 of key a, attempt 1',
    ],
  },
  {
    fault: 'a paused life that was replaced and calls what its successor calls just now',
    lines: [
      ...handled(1, '1', '2'),
      '2 started 3',
      '1 started 3',
      '2 succeeded 3',
      '1 succeeded 3',
      ...handled(2, '4', '5'),
    ],
    options: { paused: new Map([[1, [4.5]]]) },
    found: ['overlaps 3 3', 'duplicates 3'],
    says: '3 starts while 3 runs in life 2.',
    excerpt: [
      'commit 3: 3 of key a, 0/200:1',
      'call 5: life 2 started 3 of key a, attempt 1',
      'call 6: life 1 started 3 of key a, attempt 1',
    ],
  },
  {
    fault: 'the same event twice at once',
    lines: [
      '1 started 1',
      '1 started 1',
      '1 succeeded 1',
      '1 succeeded 1',
      ...handled(1, '2', '3', '4', '5'),
    ],
    found: ['overlaps 1 1'],
    says: '1 starts while 1 runs in one life.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'call 1: life 1 started 1 of key a, attempt 1',
      'call 2: life 1 started 1 of key a, attempt 1',
    ],
  },
  {
    fault: 'two lives that call at once',
    lines: [
      '1 started 1',
      '2 started 1',
      '1 succeeded 1',
      '2 succeeded 1',
      ...handled(2, '2', '3', '4', '5'),
    ],
    found: ['overlaps 1 1', 'duplicates 1'],
    says: '1 starts while 1 runs in life 1.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'call 1: life 1 started 1 of key a, attempt 1',
      'call 2: life 2 started 1 of key a, attempt 1',
    ],
  },
  {
    fault: 'a life that calls before its predecessor was killed',
    lines: ['1 started 1', ...handled(2, '1', '2', '3', '4', '5')],
    options: over(1, 3),
    found: ['overlaps 1 1', 'duplicates 1'],
    says: '1 starts while 1 runs in life 1.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'call 1: life 1 started 1 of key a, attempt 1',
      'call 2: life 2 started 1 of key a, attempt 1',
    ],
  },
  {
    fault: 'a paused life that was replaced and goes on calling',
    lines: [...handled(1, '1', '2'), ...handled(2, '3', '4', '5'), ...handled(1, '3')],
    options: { paused: new Map([[1, [4.5]]]) },
    found: ['overlaps 3', 'duplicates 3'],
    says: 'life 1 was paused, life 2 has taken over, and 3 starts in the former.',
    excerpt: [
      'commit 3: 3 of key a, 0/200:1',
      'call 9: life 2 started 5 of key a, attempt 1',
      'call 11: life 1 started 3 of key a, attempt 1',
    ],
  },
  {
    fault: 'an event that was settled in the same life',
    lines: handled(1, '1', '1', '2', '3', '4', '5'),
    found: ['repeats 1'],
    says: '1 starts again in the life that had settled it.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'call 2: life 1 succeeded 1 of key a, attempt 1',
      'call 3: life 1 started 1 of key a, attempt 1',
    ],
  },
  {
    fault: 'an event again behind later ones',
    lines: handled(1, '1', '2', '3', '1', '4', '5'),
    found: ['repeats 1'],
    says: '1 starts again in the life that had settled it.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'call 2: life 1 succeeded 1 of key a, attempt 1',
      'call 7: life 1 started 1 of key a, attempt 1',
    ],
  },
  {
    fault: 'what a life had settled that stopped in order',
    lines: [...handled(1, '1', '2', '3'), ...handled(2, '3', '4', '5')],
    options: { ...over(1, 7), stopped: new Set([1]) },
    found: ['repeats 3'],
    says: '3 starts again although life 1 had settled it and stopped in order.',
    excerpt: [
      'commit 3: 3 of key a, 0/200:1',
      'call 6: life 1 succeeded 3 of key a, attempt 1',
      'call 7: life 2 started 3 of key a, attempt 1',
    ],
  },
  {
    fault: 'an event that never committed',
    lines: [...handled(1, '1', '2', '3', '4', '5'), ...handled(1, '9')],
    found: ['strays 9'],
    says: '9 is called and has not committed.',
    excerpt: ['call 11: life 1 started 9 of key ?, attempt 1'],
  },
  {
    fault: 'a first call that says it is a second one',
    lines: ['1 started 1 2', '1 succeeded 1 2', ...handled(1, '2', '3', '4', '5')],
    found: ['strays 1'],
    says: 'attempt 2 comes without a failure before it.',
    excerpt: ['commit 1: 1 of key a, 0/100:1', 'call 1: life 1 started 1 of key a, attempt 2'],
  },
  {
    fault: 'a retry that says it is the first call',
    lines: ['1 started 1', '1 failed 1', ...handled(1, '1', '2', '3', '4', '5')],
    found: ['strays 1'],
    says: 'attempt 1 follows attempt 1.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'call 2: life 1 failed 1 of key a, attempt 1',
      'call 3: life 1 started 1 of key a, attempt 1',
    ],
  },
  {
    fault: 'a batch that grew between two attempts',
    lines: [
      '1 started 1',
      '1 failed 1',
      '1 started 1,3 2',
      '1 succeeded 1,3 2',
      ...handled(1, '2', '4', '5'),
    ],
    found: ['strays 1 3'],
    says: '1, 3 is called after 1 had failed together.',
    excerpt: [
      'commit 1: 1 of key a, 0/100:1',
      'commit 3: 3 of key a, 0/200:1',
      'call 2: life 1 failed 1 of key a, attempt 1',
      'call 3: life 1 started 1, 3 of key a, attempt 2',
    ],
  },
  {
    fault: 'an event twice in one call',
    lines: ['1 started 1,1', '1 succeeded 1,1', ...handled(1, '2', '3', '4', '5')],
    found: ['strays 1'],
    says: '1 is there twice in one call.',
    excerpt: ['commit 1: 1 of key a, 0/100:1', 'call 1: life 1 started 1, 1 of key a, attempt 1'],
  },
  {
    fault: 'an end without a start',
    lines: [...handled(1, '1', '2', '3', '4', '5'), '1 succeeded 5'],
    found: ['strays 5'],
    says: '5 ended and was not running.',
    excerpt: ['commit 5: 5 of key a, 0/300:2', 'call 11: life 1 succeeded 5 of key a, attempt 1'],
  },
];

describe('a history that was made wrong shows it, and nothing else', () => {
  test.each(planted)('$fault', ({ lines, options, found, says, excerpt }) => {
    const judgement = judged(lines, options);
    expect(briefly(judgement)).toEqual(found);
    const [kind] = (found[0] ?? '').split(' ') as [keyof typeof judgement];
    const [finding] = judgement[kind];
    expect(finding).toMatchObject({ says, excerpt: excerpt.join('\n') });
  });

  test.each<[string, Partial<HistoryEntry>, string]>([
    ['under another key', { key: 'b' }, '1 has committed under the key a and is called under b.'],
    ['at another position', { positions: ['0/9:1'] }, '1 lies at 0/100:1 and is called with 0/9:1.'],
  ])('an event that is called %s', (_, wrong, says) => {
    const [first, second, ...others] = entriesOf(handled(1, '1', '2', '3', '4', '5'));
    const { strays } = judge(committed, [
      { ...first, ...wrong },
      { ...second, ...wrong },
      ...others,
    ] as HistoryEntry[]);
    expect(strays.map((stray) => stray.says)).toEqual([says]);
  });

  test('faults of several keys and kinds are all told', () => {
    const judgement = judged([...handled(1, '1', '4', '3'), '1 started 2', '1 started 2', '1 started 9']);
    expect(briefly(judgement)).toEqual(['missed 2', 'missed 5', 'swaps 3 4', 'overlaps 2 2', 'strays 9']);
    expect(() => {
      expect(judgement).toMatchObject(faultless);
    }).toThrow();
  });

  test('rows that share an id can’t be judged, and that is said', () => {
    expect(() => judge([...committed, ...committed.slice(0, 1)], [])).toThrow('The id 1 has committed twice');
  });
});
