import { binlogTool, prepareMysqlServersOfRun } from '@strandline/servers';

/** vitest's globalSetup: what MySQL and MariaDB need is downloaded before the tests, whose deadlines are for starts. */
export default async function setupDownloads(): Promise<void> {
  await prepareMysqlServersOfRun();
  // Where there are none, the tests that read binlogs with them say why.
  await Promise.allSettled([binlogTool('mysql'), binlogTool('mariadb')]);
}
