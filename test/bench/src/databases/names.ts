export const DATABASES = ['postgres', 'mysql', 'mariadb'] as const;
export type DatabaseName = (typeof DATABASES)[number];
