import type { Finding, OffsetStore, Source } from '@strandline/core';
import { Ansis } from 'ansis';
import { describe, expect, test } from 'vitest';
import { examine } from '../src/doctor/examine.js';
import { examinationText, summaryText } from '../src/doctor/text.js';
import { ScriptedPipeline } from './scripted-pipeline.js';

const good: Finding = {
  check: 'redis-role',
  result: 'pass',
  found: 'a primary',
  why: 'It must be.',
  remedy: null,
};
const bad: Finding = {
  ...{ check: 'redis-eviction', result: 'fail', found: 'allkeys-lru', why: 'An offset must stay.' },
  remedy: 'redis-cli CONFIG SET maxmemory-policy noeviction',
};

const away = Object.assign(new Error('It is away. Start it.'), {
  code: 'PG_UNREACHABLE',
  remedy: 'Start it.',
});

function pipeline(offsets: Partial<OffsetStore>, source: Partial<Source>): ScriptedPipeline {
  const empty = { list: () => Promise.resolve([]) };
  return new ScriptedPipeline('orders', {
    offsets: {
      load: () => Promise.resolve(null),
      instances: empty,
      bookmarks: empty,
      ...offsets,
    } as OffsetStore,
    source: { inspect: () => Promise.reject(away), ...source } as Source,
  });
}

describe('doctor', () => {
  test('puts together what store and source have found', async () => {
    const { findings } = await examine(
      pipeline(
        { diagnose: () => Promise.resolve([good]) },
        { diagnose: () => Promise.resolve([{ ...good, check: 'postgres-slot' }]) },
      ),
    );
    expect(findings.map(({ check }) => check)).toEqual(['postgres-slot', 'redis-role']);
  });

  test('tells the source what is saved, and how long what is not settled has been waiting', async () => {
    const asked: unknown[] = [];
    const offset = {
      watermark: 'p1',
      completed: [],
      epoch: 1,
      savedAt: new Date(Date.now() - 60_000).toISOString(),
    };
    await examine(
      pipeline(
        { load: () => Promise.resolve(offset as never) },
        {
          diagnose: (request) => {
            asked.push(request);
            return Promise.resolve([]);
          },
        },
      ),
    );
    expect(asked).toMatchObject([{ pipeline: 'orders', offset: { watermark: 'p1' } }]);
    expect(Math.round((asked[0] as { lag: number }).lag)).toBe(60);
  });

  test('what can not be asked fails, and the rest is told', async () => {
    const { findings } = await examine(
      pipeline({ diagnose: () => Promise.resolve([good]) }, { diagnose: () => Promise.reject(away) }),
    );
    expect(findings).toMatchObject([
      {
        check: 'source',
        result: 'fail',
        found: "the source can't be asked: PG_UNREACHABLE",
        remedy: away.message,
      },
      good,
    ]);
  });

  test('places without checks have nothing to tell', async () => {
    const examination = await examine(pipeline({}, {}));
    expect(examination).toEqual({ pipeline: 'orders', findings: [] });
    expect(examinationText(examination, new Ansis(0))).toBe('orders\n  nothing to check\n');
  });

  const examination = {
    pipeline: 'orders',
    findings: [
      { place: 'offsets', ...good },
      { place: 'offsets', ...bad },
      { place: 'source', ...good, check: 'postgres-slot' },
    ],
  } as const;

  test('place by place, what is to be done first; the reason and the command where something is to be changed', () => {
    expect(examinationText(examination, new Ansis(0))).toBe(
      [
        'orders',
        '  source',
        '    pass  postgres-slot   a primary',
        '  offsets',
        '    fail  redis-eviction  allkeys-lru',
        '          An offset must stay.',
        '          redis-cli CONFIG SET maxmemory-policy noeviction',
        '    pass  redis-role      a primary',
        '',
      ].join('\n'),
    );
    expect(summaryText([examination, examination])).toBe('2 fail, 0 warn, 4 pass\n');
  });

  test('a remedy of several lines keeps them, and controls of others do not reach the terminal', () => {
    const script = {
      place: 'deadLetters',
      ...bad,
      found: 'a\u001b[2Jb',
      remedy: 'create table a;\ncreate table b;',
    } as const;
    expect(examinationText({ pipeline: 'orders', findings: [script] }, new Ansis(0))).toBe(
      [
        'orders',
        '  dead letters',
        '    fail  redis-eviction  a\\u001b[2Jb',
        '          An offset must stay.',
        '          create table a;',
        '          create table b;',
        '',
      ].join('\n'),
    );
  });

  test('what passed can be left out', () => {
    const text = examinationText(examination, new Ansis(0), true);
    expect(text).toContain('redis-eviction');
    expect(text).not.toContain('redis-role');
    const { pipeline: name, findings } = examination;
    expect(examinationText({ pipeline: name, findings: findings.slice(0, 1) }, new Ansis(0), true)).toBe(
      'orders\n  nothing to do\n',
    );
  });

  test('the dead letters and the handlers have their say, each handler for itself', async () => {
    const scripted = pipeline({}, {});
    const asked: unknown[] = [];
    Object.assign(scripted, {
      deadLetters: {
        counts: () => Promise.resolve(null),
        diagnose: () => Promise.resolve([{ ...good, check: 'letters-tables' }]),
      },
      handlerParts: [
        {
          diagnose: (request: unknown) => {
            asked.push(request);
            return Promise.resolve([{ ...good, check: 'inbox-table' }]);
          },
        },
        { diagnose: () => Promise.reject(away) },
        { close: () => Promise.resolve() },
      ],
    });
    const { findings } = await examine(scripted);
    expect(findings).toMatchObject([
      { place: 'deadLetters', check: 'letters-tables' },
      { place: 'handler', check: 'inbox-table' },
      {
        place: 'handler',
        check: 'handler',
        result: 'fail',
        found: "the handler can't be asked: PG_UNREACHABLE",
      },
    ]);
    expect(asked).toMatchObject([{ pipeline: 'orders' }]);
  });
});
