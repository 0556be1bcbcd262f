import type { Finding, HandlerParts, LetterLimits } from '@strandline/core';
import { deadLetters } from '@strandline/dead-letters';
import { databaseKinds, TestLog, testOutbox } from '@strandline/test-kit';
import { definePipeline, memoryOffsets } from 'strandline';
import { describe, expect, test } from 'vitest';
import { expectExplained } from '../conformance/findings.js';
import { letterDatabase } from './dead-letter-database.js';
import { InboxDatabase } from './inbox-database.js';

const LIMITS: LetterLimits = { perKey: 2, inAll: 10 };

async function lettersFound(
  options: Parameters<typeof deadLetters>[0],
  limits = LIMITS,
): Promise<ReadonlyMap<string, Finding>> {
  const store = deadLetters(options);
  try {
    const findings = (await store.diagnose?.('orders', limits)) ?? [];
    findings.forEach(expectExplained);
    return new Map(findings.map((finding) => [finding.check, finding]));
  } finally {
    await store.close();
  }
}

async function handlerFound(handle: unknown): Promise<ReadonlyMap<string, Finding>> {
  const { signal } = new AbortController();
  const request = { pipeline: 'orders', signal, log: new TestLog() };
  const findings = (await (handle as HandlerParts).diagnose?.(request)) ?? [];
  findings.forEach(expectExplained);
  return new Map(findings.map((finding) => [finding.check, finding]));
}

describe.each(databaseKinds)('%s', (kind) => {
  test('dead letters: tables that are not there, that may not be used, and what lies in them', async () => {
    await using db = await letterDatabase(kind);
    const poor = await db.poorUser();

    // Not there: nothing is made by looking.
    const before = await lettersFound(db.options());
    expect(before.get('letters-tables')).toMatchObject({
      result: 'pass',
      found: expect.stringContaining('not there yet') as string,
    });
    const refused = (await lettersFound(db.options(poor.url))).get('letters-tables');
    expect(refused?.result).toBe(kind === 'postgres' ? 'fail' : 'warn');
    for (const statement of refused?.remedy?.split(';\n') ?? [])
      await db.run(statement.trim().replace(/;$/, ''));

    // There now, as the remedy has it.
    expect((await lettersFound(db.options())).get('letters-tables')).toMatchObject({
      result: 'pass',
      found: 'they are there, and may be used',
    });
    const unusable = (await lettersFound(db.options(poor.url))).get('letters-tables');
    // On MySQL this user may use every table of the database, and make none.
    expect(unusable?.result).toBe(kind === 'postgres' ? 'fail' : 'pass');
    await poor.grant();
    expect((await lettersFound(db.options(poor.url))).get('letters-tables')?.result).toBe('pass');

    // A key with two letters, parked long ago.
    await using outbox = await testOutbox(kind);
    const pipeline = definePipeline({
      ...{ name: 'orders', source: outbox.source(), offsets: memoryOffsets(), log: new TestLog() },
      ...{ deadLetters: deadLetters(db.options()), retry: { attempts: 1 }, parking: { limits: LIMITS } },
      handle: () => Promise.reject(new Error('no')),
    });
    await pipeline.start();
    await outbox.insert([{ key: 'a' }, { key: 'a' }]);
    await expect
      .poll(() => pipeline.deadLetters?.counts(), { timeout: 30_000 })
      .toMatchObject({ waiting: 2 });
    const own = new Map((await pipeline.deadLetters?.diagnose())?.map((one) => [one.check, one]));
    await pipeline.stop();
    expect(own.get('letters-limits')).toMatchObject({
      result: 'fail',
      found: '2 of 10 letters, 2 of 2 for one key',
    });
    expect(own.get('letters-waiting')?.result).toBe('pass');
    await db.run("update strandline_dead_letters set parked_at = '2026-01-01T00:00:00.000Z'");
    const late = await lettersFound(db.options(), { perKey: 100, inAll: 100 });
    expect(late.get('letters-limits')?.result).toBe('pass');
    expect(late.get('letters-waiting')?.result).toBe('warn');

    // Tables of another version.
    await db.run('alter table strandline_dead_letters drop column failure_history');
    expect((await lettersFound(db.options())).get('letters-tables')).toMatchObject({
      result: 'fail',
      found: expect.stringContaining('has not the columns') as string,
      remedy: expect.stringContaining('failure_history') as string,
    });
  });

  test('inbox: a table that is not there, another one of its name, and rights that are missing', async () => {
    await using db = await InboxDatabase.create(kind);
    const effect = (): undefined => undefined;
    const missing = await handlerFound(db.handler(effect));
    expect(missing.get('inbox-table')?.result).toBe(kind === 'postgres' ? 'pass' : 'warn');
    const unmade = (await handlerFound(db.handler(effect, { create: false }))).get('inbox-table');
    expect(unmade?.result).toBe('fail');
    for (const statement of unmade?.remedy?.split(';').filter((part) => part.trim() !== '') ?? [])
      await db.run(statement);
    const made = await handlerFound(db.handler(effect));
    expect([...made.values()].map(({ check, result }) => [check, result])).toEqual([
      ['inbox-table', 'pass'],
      ['inbox-privileges', 'pass'],
    ]);
    const other = await handlerFound(db.handler(effect, { table: 'counters' }));
    expect(other.get('inbox-table')).toMatchObject({
      result: 'fail',
      found: expect.stringContaining('has the columns') as string,
    });
    const poor = await handlerFound(db.handler(effect, {}, { url: await db.poorUser() }));
    expect(poor.get('inbox-table')?.result).toBe('pass');
    // On MySQL this user may use every table of the database, and make none.
    expect(poor.get('inbox-privileges')?.result).toBe(kind === 'postgres' ? 'fail' : 'pass');
  });
});
