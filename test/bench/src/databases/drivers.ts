import type { Driver } from './driver.js';
import { mysqlDriver } from './mysql/mysql-driver.js';
import type { DatabaseName } from './names.js';
import { postgresDriver } from './postgres/postgres-driver.js';

export const DRIVERS: Readonly<Record<DatabaseName, Driver>> = {
  postgres: postgresDriver,
  mysql: mysqlDriver,
  mariadb: mysqlDriver,
};
