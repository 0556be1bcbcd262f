import {
  binlogTool,
  prepareMysqlServersOfRun,
  promtool,
  runsInMemory,
  runsVariable,
} from '@strandline/servers';

/** vitest's globalSetup: what MySQL, MariaDB and the tests of alerts need is downloaded before the tests, whose deadlines are for starts. */
export default async function setupDownloads(): Promise<void> {
  await chooseRuns();
  await prepareMysqlServersOfRun();
  // Where there are none, the tests that need them say why.
  await Promise.allSettled([binlogTool('mysql'), binlogTool('mariadb'), promtool()]);
}

/** The data of all servers of the run, those of the test files included, which have this process's environment. */
async function chooseRuns(): Promise<void> {
  const inMemory = await runsInMemory();
  if (inMemory !== undefined) process.env[runsVariable] ??= inMemory;
}
