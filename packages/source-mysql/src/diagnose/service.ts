import type { Flavour } from '../gtids.js';

/** Who runs the server: its settings are changed in the service's own way. */
export type Service = 'rds' | 'aurora' | 'cloudsql' | 'azure';

/** What tells a managed server from any other. */
export interface ServiceMarks {
  readonly host: string;
  /** Global variables, by name in lower case. */
  readonly variables: ReadonlyMap<string, string>;
  /** It has the procedure mysql.rds_set_configuration, or the table behind it. */
  readonly hasRdsConfiguration: boolean;
}

/** By what the server has; by its name where that says nothing. Null for one that nobody manages, or nobody known. */
export function serviceOf({ host, variables, hasRdsConfiguration }: ServiceMarks): Service | null {
  if (variables.has('aurora_version')) return 'aurora';
  // Where the service keeps its builds.
  const isRds = hasRdsConfiguration || (variables.get('basedir') ?? '').startsWith('/rdsdbbin');
  if (isRds) return 'rds';
  const version = `${variables.get('version') ?? ''} ${variables.get('version_comment') ?? ''}`;
  if (/google/i.test(version)) return 'cloudsql';
  if (/\.cluster-(ro-)?[^.]+\.[^.]+\.rds\.amazonaws\.com(\.cn)?$/.test(host)) return 'aurora';
  if (/\.rds\.amazonaws\.com(\.cn)?$/.test(host)) return 'rds';
  return /azure/i.test(version) || /\.(mysql|mariadb)\.database\.azure\.com$/.test(host) ? 'azure' : null;
}

/**
 * How the binlog is switched on.
 *
 * - RDS: docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_LogAccess.MySQL.BinaryFormat.html: with automated backups
 * - Aurora: docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/USER_LogAccess.MySQL.BinaryFormat.html: OFF by default
 * - Cloud SQL: cloud.google.com/sql/docs/mysql/backup-recovery/pitr: with point-in-time recovery
 * - Azure: learn.microsoft.com/azure/Databricks/ingestion/lakeflow-connect/mysql-azure-config: always on
 */
export function switchBinlogOn(service: Service | null): string {
  switch (service) {
    case 'rds':
      return 'Enable automated backups: a backup retention period of one day or more switches the binlog on.';
    case 'aurora':
      return 'Set binlog_format = ROW in the DB cluster parameter group (not the default one), and reboot the writer.';
    case 'cloudsql':
      return 'gcloud sql instances patch <instance> --enable-bin-log (it restarts the instance, and needs backups)';
    case 'azure':
      return 'It is always on there: connect to the server itself, not to a read replica.';
    case null:
      return 'Start the server with log_bin and a server_id of its own.';
  }
}

/** How a setting of the server is changed. Sessions that are open keep the old value, of those that a session has. */
export function changeSetting(
  { service, flavour }: { readonly service: Service | null; readonly flavour: Flavour },
  name: string,
  value: string,
): string {
  switch (service) {
    case 'rds':
      return `Set ${name} = ${value} in the DB parameter group of the instance (not the default one).`;
    case 'aurora':
      return `Set ${name} = ${value} in the DB cluster parameter group (not the default one), and reboot the writer.`;
    case 'cloudsql':
      return `gcloud sql instances patch <instance> --database-flags=${name}=${value} (beside the flags that are set)`;
    case 'azure':
      return `az mysql flexible-server parameter set --resource-group <group> --server-name <server> --name ${name} --value ${value}`;
    case null:
      return flavour === 'mariadb'
        ? `set global ${name} = ${value}; -- and the same under [mysqld] in the configuration of the server`
        : `set persist ${name} = ${value};`;
  }
}

/** The longest that the service keeps a binlog, in hours, by the same pages. */
const LONGEST_HOURS = { rds: 168, aurora: 2_160 } as const;

/** How long a binlog is kept is no setting of the server there. Null elsewhere. */
export function keepHours(service: Service | null, seconds: number): string | null {
  if (service !== 'rds' && service !== 'aurora') return null;
  const hours = Math.min(Math.ceil(seconds / 3_600), LONGEST_HOURS[service]);
  return `call mysql.rds_set_configuration('binlog retention hours', ${String(hours)});`;
}
