import { databaseKinds, type DatabaseKind } from '@strandline/test-kit';

/** The pipeline's. */
export const PIPELINE = 'chaos';

export const DATABASES = databaseKinds;
export type DatabaseName = DatabaseKind;
