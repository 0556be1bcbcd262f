import { MysqlTestOutbox } from './mysql-test-outbox.js';
import { PostgresTestOutbox } from './postgres-test-outbox.js';
import type { TestOutbox } from './test-outbox.js';

/** Every promise holds on each of them. */
export const databaseKinds = ['postgres', 'mysql', 'mariadb'] as const;
export type DatabaseKind = (typeof databaseKinds)[number];

/**
 * `await using outbox = await testOutbox('mysql')`: in a database of its own, empty.
 *
 * @param serverUrl of another server than the run's, such as one that the test kills.
 */
export function testOutbox(kind: DatabaseKind, serverUrl?: string): Promise<TestOutbox> {
  return kind === 'postgres' ? PostgresTestOutbox.create(serverUrl) : MysqlTestOutbox.create(kind, serverUrl);
}
