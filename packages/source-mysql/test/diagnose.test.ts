import { describe, expect, it } from 'vitest';
import { diagnose } from '../src/diagnose.js';
import type { Session } from '../src/session.js';

const DAY = 86_400;

/** A server with these settings. */
function server(variables: Readonly<Record<string, string>>): Session {
  const rows = Object.entries({ version: '8.4.0', ...variables }).map(([name, value]) => ({
    Variable_name: name,
    Value: value,
  }));
  return { query: () => Promise.resolve(rows) } as unknown as Session;
}

const kept = (seconds: number): Record<string, string> => ({ binlog_expire_logs_seconds: String(seconds) });

describe('how long the binlog is kept', () => {
  it.each([
    ['a month, and nothing waits', kept(30 * DAY), 0, 'pass'],
    ['a month, and nobody knows how far the pipeline is', kept(30 * DAY), null, 'pass'],
    ['a month, and the pipeline is half of it behind', kept(30 * DAY), 15 * DAY, 'warn'],
    ['a month, and the pipeline is further behind', kept(30 * DAY), 31 * DAY, 'fail'],
    ['a day: a weekend is longer', kept(DAY), 0, 'warn'],
    ['for ever', kept(0), 400 * DAY, 'pass'],
    [
      'for ever, whatever the age says',
      { ...kept(DAY), binlog_expire_logs_auto_purge: 'OFF' },
      400 * DAY,
      'pass',
    ],
    ['by the older name', { expire_logs_days: '1' }, 2 * DAY, 'fail'],
    ['by the newer name where both are there', { ...kept(30 * DAY), expire_logs_days: '1' }, 2 * DAY, 'pass'],
  ])('%s', async (_, variables, lag, result) => {
    const [finding] = await diagnose(server(variables), { lag });
    expect(finding).toMatchObject({ check: 'mysql-binlog-age', result });
    expect(finding?.remedy === null).toBe(result === 'pass');
  });

  it('is advised as three times what the pipeline is behind, a week at least', async () => {
    const remedy = async (lag: number, version = '8.4.0'): Promise<string | null | undefined> =>
      (await diagnose(server({ ...kept(DAY), version }), { lag }))[0]?.remedy;
    expect(await remedy(0)).toBe('set persist binlog_expire_logs_seconds = 604800;');
    expect(await remedy(10 * DAY)).toBe('set persist binlog_expire_logs_seconds = 2592000;');
    expect(await remedy(0, '11.4.2-MariaDB')).toBe(
      'set global binlog_expire_logs_seconds = 604800; and the same under [mysqld] in the configuration of the server',
    );
  });

  it('has a limit by size where the server knows one', async () => {
    const ofSize = async (size: string): Promise<string | undefined> =>
      (await diagnose(server({ ...kept(0), max_binlog_total_size: size }), { lag: 0 }))[1]?.result;
    expect(await ofSize('0')).toBe('pass');
    expect(await ofSize('1073741824')).toBe('warn');
  });
});
