import { prepareMysqlServersOfRun } from '@strandline/servers';

/** vitest's globalSetup: what MySQL and MariaDB need is downloaded before the tests, whose deadlines are for starts. */
export default async function setupDownloads(): Promise<void> {
  await prepareMysqlServersOfRun();
}
