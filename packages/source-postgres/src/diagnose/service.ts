/** Who runs the server: its settings and grants are changed in the service's own way. */
export type Service = 'rds' | 'aurora' | 'cloudsql' | 'azure' | 'supabase' | 'neon';

/** What tells a managed server from any other. */
export interface ServiceMarks {
  readonly host: string;
  /** Roles that exist there. */
  readonly roles: ReadonlySet<string>;
  /** The first parts of the names of its settings: `rds` of `rds.logical_replication`. */
  readonly settings: ReadonlySet<string>;
  /** It has aurora_version(). */
  readonly aurora: boolean;
}

const HOSTS: readonly (readonly [RegExp, Service])[] = [
  [/\.cluster-(ro-)?[^.]+\.[^.]+\.rds\.amazonaws\.com(\.cn)?$/, 'aurora'],
  [/\.rds\.amazonaws\.com(\.cn)?$/, 'rds'],
  [/\.postgres\.database\.azure\.com$/, 'azure'],
  [/\.supabase\.(co|com)$/, 'supabase'],
  [/\.neon\.(tech|build)$/, 'neon'],
];

/** By what the server has; by its name where that says nothing. Null for one that nobody manages, or nobody known. */
export function serviceOf({ host, roles, settings, aurora }: ServiceMarks): Service | null {
  if (roles.has('rdsadmin') || settings.has('rds')) return aurora ? 'aurora' : 'rds';
  if (roles.has('cloudsqlsuperuser') || settings.has('cloudsql')) return 'cloudsql';
  if (roles.has('azure_pg_admin') || settings.has('azure')) return 'azure';
  if (roles.has('neon_superuser') || settings.has('neon')) return 'neon';
  if (roles.has('supabase_admin')) return 'supabase';
  return serviceOfHost(host);
}

export function serviceOfHost(host: string): Service | null {
  return HOSTS.find(([pattern]) => pattern.test(host))?.[1] ?? null;
}

/**
 * Hosts that are poolers, whatever they let through: replication is not among it.
 *
 * - Supabase's Supavisor: supabase.com/docs/guides/database/replication/manual-replication-faq
 * - Neon's PgBouncer: neon.com/docs/connect/connection-pooling, neon.com/docs/guides/logical-replication-neon
 */
export function isPoolerHost(host: string, port: number): boolean {
  return (
    /\.pooler\.supabase\.(co|com)$/.test(host) ||
    (/\.supabase\.(co|com)$/.test(host) && port === 6543) ||
    /^[^.]*-pooler\..*\.neon\.(tech|build)$/.test(host)
  );
}

/** Where the address of the server itself is. */
export function directAddress(service: Service | null): string {
  switch (service) {
    case 'supabase':
      return 'Take the direct connection: db.<project-ref>.supabase.co:5432 (over IPv6, or with the IPv4 add-on).';
    case 'neon':
      return 'Take the direct connection: the same host without `-pooler`.';
    case 'azure':
      return 'Take port 5432 of the server; 6432 is the built-in PgBouncer.';
    default:
      return 'Use the address and port of Postgres, not of PgBouncer or another pooler.';
  }
}

/**
 * How wal_level becomes logical.
 *
 * - RDS: docs.aws.amazon.com/AmazonRDS/latest/UserGuide/PostgreSQL.Concepts.General.FeatureSupport.LogicalReplication.html
 * - Aurora: docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/AuroraPostgreSQL.Replication.Logical.Configure.html
 * - Cloud SQL: cloud.google.com/sql/docs/postgres/replication/configure-logical-replication
 * - Azure: learn.microsoft.com/azure/postgresql/flexible-server/concepts-logical
 * - Neon: neon.com/docs/guides/logical-replication-neon
 */
export function logicalLog(service: Service | null): string {
  switch (service) {
    case 'rds':
      return 'Set rds.logical_replication = 1 in the DB parameter group of the instance (not the default one), and reboot the instance.';
    case 'aurora':
      return 'Set rds.logical_replication = 1 in the DB cluster parameter group (not the default one), and reboot the writer.';
    case 'cloudsql':
      return 'Set the flag cloudsql.logical_decoding = on: gcloud sql instances patch <instance> --database-flags=cloudsql.logical_decoding=on (beside the flags that are set; it restarts the instance).';
    case 'azure':
      return 'Set the server parameter wal_level to logical: az postgres flexible-server parameter set --resource-group <group> --server-name <server> --name wal_level --value logical; and restart the server.';
    case 'neon':
      return 'Enable logical replication in the settings of the Neon project. It restarts the computes, and can not be undone.';
    case 'supabase':
      return 'It is logical by default there: run `npx supabase --experimental --project-ref <project-ref> postgres-config get`, and delete an override of wal_level.';
    case null:
      return "alter system set wal_level = 'logical'; and restart the server.";
  }
}

/** How another setting of the server is changed. */
export function changeSetting(service: Service | null, name: string, value: string, restart = false): string {
  switch (service) {
    case 'rds':
      return `Set ${name} = ${value} in the DB parameter group of the instance${restart ? ', and reboot it' : ''}.`;
    case 'aurora':
      return `Set ${name} = ${value} in the DB cluster parameter group${restart ? ', and reboot the writer' : ''}.`;
    case 'cloudsql':
      return `Set the flag ${name} = ${value}: gcloud sql instances patch <instance> --database-flags=${name}=${value} (beside the flags that are set).`;
    case 'azure':
      return `az postgres flexible-server parameter set --resource-group <group> --server-name <server> --name ${name} --value ${value}${restart ? '; and restart the server' : ''}`;
    case 'supabase':
      return `npx supabase --experimental --project-ref <project-ref> postgres-config update --config ${name}=${value}`;
    case 'neon':
      return `Neon sets ${name} itself: ask its support to change it to ${value}.`;
    case null:
      return `alter system set ${name} = '${value}'; ${restart ? 'and restart the server.' : 'select pg_reload_conf();'}`;
  }
}

/**
 * How a role is allowed to replicate.
 *
 * - RDS and Aurora: as above; ALTER ROLE … REPLICATION is not allowed there.
 * - Neon: neon.com/docs/guides/logical-replication-neon: roles of the console, CLI and API have it.
 */
export function grantReplication(service: Service | null, role: string): string {
  switch (service) {
    case 'rds':
    case 'aurora':
      return `grant rds_replication to ${role};`;
    case 'neon':
      return 'Make the role in the Neon console, or with its CLI or API, and connect as it: such roles may replicate, roles made in SQL may not.';
    case 'cloudsql':
      return `alter role ${role} with replication; -- as a member of cloudsqlsuperuser`;
    case 'azure':
      return `alter role ${role} with replication; -- as the administrator of the server (azure_pg_admin)`;
    case 'supabase':
    case null:
      return `alter role ${role} with replication;`;
  }
}
