import { prepareMysqlServersOfRun } from '@strandline/servers';
import type { TestProject } from 'vitest/node';
import setup from './global-setup.js';

/** The same for the suites on MySQL and MariaDB: what those need is downloaded before the tests, whose deadlines are for starts. */
export default async function setupMysql(project: TestProject): Promise<() => Promise<void>> {
  await prepareMysqlServersOfRun();
  return setup(project);
}
