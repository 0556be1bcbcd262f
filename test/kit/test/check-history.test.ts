import { checkHistory, type CommittedEvent, type HistoryEntry, type Verdict } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';

/** Key a has the events 1, 3, 4; key b has 2. */
const committed: CommittedEvent[] = [
  { id: '1', key: 'a', position: '0/100:1' },
  { id: '2', key: 'b', position: '0/100:2' },
  { id: '3', key: 'a', position: '0/200:1' },
  { id: '4', key: 'a', position: '0/300:1' },
];

/** Reads `run started|succeeded|failed ids [attempt]`, one entry each. */
function verdict(...lines: string[]): Verdict {
  return verdictOf(lines);
}

function verdictOf(lines: readonly string[], broken?: ReadonlySet<string>): Verdict {
  const entries = lines.map((line): HistoryEntry => {
    const [run, what, list = '', attempt = '1'] = line.split(' ');
    const ids = list.split(',');
    const events = ids.map((id) => committed.find((event) => event.id === id));
    return {
      what: what as HistoryEntry['what'],
      run: Number(run),
      attempt: Number(attempt),
      key: events[0]?.key ?? '?',
      ids,
      positions: events.map((event) => event?.position ?? '?'),
      at: 0,
    };
  });
  return checkHistory(committed, entries, undefined, broken);
}

function handled(run: number, ...ids: string[]): string[] {
  return ids.flatMap((id) => [`${String(run)} started ${id}`, `${String(run)} succeeded ${id}`]);
}

describe('a history that keeps the promises', () => {
  test.each([
    ['in commit order', handled(1, '1', '2', '3', '4'), []],
    ['keys in any order among themselves', handled(1, '2', '1', '3', '4'), []],
    ['keys at once', ['1 started 1', ...handled(1, '2'), '1 succeeded 1', ...handled(1, '3', '4')], []],
    [
      'a retry',
      ['1 started 1', '1 failed 1', '1 started 1 2', '1 succeeded 1 2', ...handled(1, '2', '3', '4')],
      [],
    ],
    ['a batch', ['1 started 1,3', '1 succeeded 1,3', ...handled(1, '2', '4')], []],
    ['a crash during 3', [...handled(1, '1', '2'), '1 started 3', ...handled(2, '3', '4')], ['3']],
    ['a suffix again after a crash', [...handled(1, '1', '2', '3'), ...handled(2, '3', '4')], ['3']],
    [
      'two suffixes',
      [...handled(1, '1', '2', '3'), ...handled(2, '1'), ...handled(3, '1', '3', '4')],
      ['1', '3'],
    ],
  ])('%s', (_, lines, redelivered) => {
    expect(verdict(...lines)).toEqual({ missing: [], violations: [], redelivered });
  });
});

describe('an event that fails for good', () => {
  const parked = [...handled(1, '1', '2'), '1 started 3', '1 failed 3'];
  const of3 = (...lines: string[]): readonly string[] =>
    verdictOf([...parked, ...lines], new Set(['3'])).violations;

  test('is tried anew when its key is released, in the same run or a later one', () => {
    expect(of3('1 started 3', '1 failed 3', ...handled(1, '3', '4'))).toEqual([]);
    expect(of3(...handled(2, '1', '3', '4'))).toEqual([]);
  });

  test('is not overtaken', () => {
    expect(of3(...handled(1, '4'))).toHaveLength(1);
    expect(of3(...handled(2, '4'))).toHaveLength(1);
    expect(of3(...handled(1, '1'))).toHaveLength(1);
  });
});

describe('a history that breaks one', () => {
  test('a lost event is missing', () => {
    expect(verdict(...handled(1, '1', '3', '4')).missing).toEqual(['2']);
  });

  test('an event that only ever failed is missing', () => {
    expect(verdict(...handled(1, '1', '3', '4'), '1 started 2', '1 failed 2').missing).toEqual(['2']);
  });

  test.each([
    ['a gap', handled(1, '3'), 'before an earlier one had settled'],
    ['a swap', handled(1, '1', '4', '3'), 'before an earlier one had settled'],
    ['a gap after a crash', [...handled(1, '1'), ...handled(2, '4')], 'before an earlier one had settled'],
    [
      'a gap behind one that was in flight',
      ['1 started 1', ...handled(2, '3')],
      'before an earlier one had settled',
    ],
    ['a repetition without a crash', handled(1, '1', '1'), 'again after it had settled'],
    [
      'a head that is overtaken in backoff',
      ['1 started 1', '1 failed 1', '1 started 3'],
      'was to be tried again',
    ],
    ['a batch that grew', ['1 started 1', '1 failed 1', '1 started 1,3 2'], 'was to be tried again'],
    ['a gap in a batch', ['1 started 1,4'], '4 is not the next one'],
    ['two of one key at once', ['1 started 1', '1 started 3'], 'while 1 was running'],
    ['a wrong attempt', ['1 started 1 2'], 'attempt 2 without a failure'],
    ['an event that never committed', handled(1, '9'), 'did not commit under this key'],
  ])('%s', (_, lines, words) => {
    expect(verdict(...lines).violations.join('\n')).toContain(words);
  });

  test('an event says another position', () => {
    const entry = {
      what: 'started',
      run: 1,
      attempt: 1,
      key: 'b',
      ids: ['2'],
      positions: ['0/9:1'],
      at: 0,
    } as const;
    expect(checkHistory(committed, [entry]).violations.join()).toContain('2 lies at 0/100:2 and says 0/9:1');
  });
});
