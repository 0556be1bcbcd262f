import type { Finding, OffsetStore, Source } from '@strandline/core';
import { Ansis } from 'ansis';
import { describe, expect, test } from 'vitest';
import { examine } from '../src/doctor/examine.js';
import { examinationText } from '../src/doctor/text.js';
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
    expect(findings.map(({ check }) => check)).toEqual(['redis-role', 'postgres-slot']);
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
      good,
      {
        check: 'source',
        result: 'fail',
        found: "the source can't be asked: PG_UNREACHABLE",
        remedy: away.message,
      },
    ]);
  });

  test('places without checks have nothing to tell', async () => {
    const examination = await examine(pipeline({}, {}));
    expect(examination).toEqual({ pipeline: 'orders', findings: [] });
    expect(examinationText(examination, new Ansis(0))).toBe('orders\n  nothing to check\n');
  });

  test('the reason and the command are shown where something is to be changed', () => {
    expect(examinationText({ pipeline: 'orders', findings: [good, bad] }, new Ansis(0))).toBe(
      [
        'orders',
        '  pass  redis-role      a primary',
        '  fail  redis-eviction  allkeys-lru',
        '        An offset must stay.',
        '        redis-cli CONFIG SET maxmemory-policy noeviction',
        '',
      ].join('\n'),
    );
  });
});
