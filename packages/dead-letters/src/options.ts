import { describeConfigIssues } from '@strandline/core';
import type { ConnectionOptions } from 'mysql2';
import type { ClientConfig } from 'pg';
import { z } from 'zod';
import { configError } from './errors.js';

export interface DeadLettersOptions {
  readonly postgres?: {
    /** `postgres://user:password@host:port/database`. A pooler will do. */
    readonly url?: string;
    /** Instead of `url`: what the `pg` client takes. */
    readonly connection?: ClientConfig;
  };
  /** MySQL or MariaDB. */
  readonly mysql?: {
    /** `mysql://user:password@host:port/database`. */
    readonly url?: string;
    /** Instead of `url`: what mysql2 takes. */
    readonly connection?: ConnectionOptions;
  };
  /** Where the tables are: a schema of Postgres, a database of MySQL. Default: that of the connection. */
  readonly schema?: string;
  /** What the names of the tables begin with. Default `strandline_`. */
  readonly prefix?: string;
  /** Milliseconds until a connection must stand. Default 5,000. */
  readonly connectTimeout?: number;
  /** Milliseconds until a statement must be answered. Default 10,000. */
  readonly statementTimeout?: number;
}

export interface Timeouts {
  readonly connectTimeout: number;
  readonly statementTimeout: number;
}

/** Validated, with every default filled in. */
export interface ValidOptions extends Timeouts {
  readonly postgres:
    { readonly url?: string | undefined; readonly connection?: ClientConfig | undefined } | undefined;
  readonly mysql:
    { readonly url?: string | undefined; readonly connection?: ConnectionOptions | undefined } | undefined;
  readonly schema: string | null;
  readonly prefix: string;
}

const milliseconds = z
  .int({ error: 'must be a whole number of milliseconds' })
  .min(1, { error: 'must be at least 1 ms' })
  .max(600_000, { error: 'must be at most 600000 ms (ten minutes)' });

/** Where a database is: in exactly one of two ways. */
function place<T extends object>(scheme: RegExp, example: string) {
  return z
    .strictObject({
      url: z
        .string({ error: 'must be a string' })
        .regex(scheme, { error: `must look like ${example}` })
        .optional(),
      connection: z
        .custom<T>((value) => typeof value === 'object' && value !== null, { error: 'must be an object' })
        .optional(),
    })
    .refine(({ url, connection }) => (url === undefined) !== (connection === undefined), {
      path: ['url'],
      error: 'give either url or connection',
    })
    .optional();
}

const schema = z
  .strictObject({
    postgres: place<ClientConfig>(/^postgres(ql)?:\/\//, 'postgres://user@host:5432/database'),
    mysql: place<ConnectionOptions>(/^mysql:\/\//, 'mysql://user@host:3306/database'),
    schema: z.string().min(1).max(63).nullable().default(null),
    prefix: z
      .string()
      // The longest name of ours after it has 32 characters, and Postgres cuts names at 63.
      .regex(/^[a-z_][a-z0-9_]{0,30}$/, {
        error: 'must be 1 to 31 of a-z, 0-9 and _, and begin with no digit',
      })
      .default('strandline_'),
    connectTimeout: milliseconds.default(5_000),
    statementTimeout: milliseconds.default(10_000),
  })
  .refine(({ postgres, mysql }) => (postgres === undefined) !== (mysql === undefined), {
    error: 'say where the table is: either postgres or mysql',
  });

/** @throws LettersError `LETTERS_CONFIG` that names field, value and rule; never a credential. */
export function validate(options: DeadLettersOptions): ValidOptions {
  const parsed = schema.safeParse(options);
  if (!parsed.success) throw configError(describeConfigIssues('deadLetters', options, parsed.error.issues));
  const { postgres, mysql, ...rest } = parsed.data;
  return Object.freeze({ ...rest, postgres, mysql });
}
