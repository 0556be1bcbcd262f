import { describe, expect, test } from 'vitest';
import { serverFacts } from '../src/postgres/server-facts.js';
import type { Row, Session } from '../src/postgres/session.js';

const ROW: Row = {
  ...{
    version: '18.4 (Debian 18.4-1)',
    versionNumber: '180004',
    database: 'shop',
    schema: 'public',
    user: 'app',
  },
  ...{
    standby: 'false',
    pid: '4711',
    walLevel: 'logical',
    maxSlots: '10',
    slots: '2',
    maxSenders: '10',
    senders: '1',
  },
  ...{ superuser: 'false', replicates: 'false', createsRoles: 'false', creates: 'true', service: null },
};

function session(row: Row, processId: number | null = 4711): Session {
  return {
    processId,
    rows: (sql) => Promise.resolve(sql.includes('pg_file_settings') ? [] : [{ ...ROW, ...row }]),
  };
}

describe('a Postgres', () => {
  test('is told with its room', async () => {
    expect(await serverFacts(session({}), 'db:5432/shop')).toMatchObject({
      ...{ version: '18.4', isSuperuser: false, pooler: false, walLevelPending: null },
      ...{ slots: { used: 2, max: 10 }, senders: { used: 1, max: 10 } },
    });
  });

  test('behind a pooler answers from another process than it said', async () => {
    expect((await serverFacts(session({}, 99), 'db')).pooler).toBe(true);
    expect((await serverFacts(session({}, null), 'db')).pooler).toBe(false);
  });

  test.each([
    ['a standby', { standby: 'true' }, 'Connect to the primary'],
    ['too old', { versionNumber: '130011' }, 'Strandline needs 14'],
  ])('that is %s is refused', async (_, row, says) => {
    await expect(serverFacts(session(row), 'db')).rejects.toMatchObject({
      code: 'SETUP_SERVER',
      message: expect.stringContaining(says) as string,
    });
  });
});
