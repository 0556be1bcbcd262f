import { binlogTool, chromium, prepareMysqlServersOfRun, promtool } from '@strandline/servers';

/** vitest's globalSetup: what MySQL, MariaDB and the tests of alerts and pages need is downloaded before the tests, whose deadlines are for starts. */
export default async function setupDownloads(): Promise<void> {
  await prepareMysqlServersOfRun();
  // Where there are none, the tests that need them say why.
  await Promise.allSettled([binlogTool('mysql'), binlogTool('mariadb'), promtool(), chromium()]);
}
