import {
  drizzleExecutor,
  knexExecutor,
  kyselyExecutor,
  mysql2CallbackExecutor,
  mysql2Executor,
  pgExecutor,
  prismaExecutor,
  sequelizeExecutor,
  typeormExecutor,
  type Executor,
} from '@strandline/outbox';
import type { DatabaseKind } from '@strandline/test-kit';
import { packages } from './packages.js';

/** An application that has chosen a library. */
export interface App {
  /** Outside of a transaction. */
  readonly executor: Executor;
  /** Does the work in a transaction, beginning with a row of the business; rolled back when the work throws. */
  transaction(order: number, work: (executor: Executor) => Promise<void>): Promise<void>;
  close(): Promise<unknown>;
}

export interface Library {
  readonly name: string;
  readonly kinds: readonly DatabaseKind[];
  open(url: string, kind: DatabaseKind): Promise<App>;
}

const ALL = ['postgres', 'mysql', 'mariadb'] as const;

/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-assignment, typescript/no-unsafe-call, typescript/no-unsafe-member-access, typescript/no-unsafe-argument, typescript/no-unsafe-return --
   The libraries are no dependencies of the project, so their types are not here. */

async function load(name: string): Promise<any> {
  const module = (await packages.import(name)) as any;
  return 'default' in module && typeof module.default === 'object'
    ? { ...module.default, ...module }
    : module;
}

/** The dialects other than Postgres, as the executors of mysql2 want them. */
const mysqlKind = (kind: DatabaseKind): 'mysql' | 'mariadb' => (kind === 'mariadb' ? kind : 'mysql');

const pg: Library = {
  name: 'pg',
  kinds: ['postgres'],
  async open(url) {
    const { Client } = await load('pg');
    const client = new Client({ connectionString: url });
    await client.connect();
    return {
      executor: pgExecutor(client),
      async transaction(order, work) {
        await client.query('begin');
        try {
          await client.query('insert into orders (id) values ($1)', [order]);
          await work(pgExecutor(client));
          await client.query('commit');
        } catch (error) {
          await client.query('rollback');
          throw error;
        }
      },
      close: () => client.end(),
    };
  },
};

const mysql2: Library = {
  name: 'mysql2',
  kinds: ['mysql', 'mariadb'],
  async open(url, kind) {
    const { createConnection } = await load('mysql2/promise');
    const connection = await createConnection(url);
    const executor = mysql2Executor(connection, mysqlKind(kind));
    return {
      executor,
      async transaction(order, work) {
        await connection.beginTransaction();
        try {
          await connection.execute('insert into orders (id) values (?)', [order]);
          await work(executor);
          await connection.commit();
        } catch (error) {
          await connection.rollback();
          throw error;
        }
      },
      close: () => connection.end(),
    };
  },
};

const mysql2Callbacks: Library = {
  name: 'mysql2 with callbacks',
  kinds: ['mysql', 'mariadb'],
  async open(url, kind) {
    const { createConnection } = await load('mysql2');
    const connection = createConnection(url);
    const executor = mysql2CallbackExecutor(connection, mysqlKind(kind));
    const done = (method: string): Promise<void> =>
      new Promise((resolve, reject) => {
        connection[method]((error: Error | null) => {
          if (error) reject(error);
          else resolve();
        });
      });
    return {
      executor,
      async transaction(order, work) {
        await done('beginTransaction');
        try {
          await executor.run('insert into orders (id) values (?)', [String(order)]);
          await work(executor);
          await done('commit');
        } catch (error) {
          await done('rollback');
          throw error;
        }
      },
      close: () => done('end'),
    };
  },
};

const knex: Library = {
  name: 'Knex',
  kinds: ALL,
  async open(url, kind) {
    const { knex: make } = await load('knex');
    const db = make({ client: kind === 'postgres' ? 'pg' : 'mysql2', connection: url });
    return {
      executor: knexExecutor(db, kind),
      transaction: (order, work) =>
        db.transaction(async (trx: any) => {
          await trx('orders').insert({ id: order });
          await work(knexExecutor(trx, kind));
        }),
      close: () => db.destroy(),
    };
  },
};

const kysely: Library = {
  name: 'Kysely',
  kinds: ALL,
  async open(url, kind) {
    const { Kysely, PostgresDialect, MysqlDialect } = await load('kysely');
    const dialect =
      kind === 'postgres'
        ? new PostgresDialect({ pool: new (await load('pg')).Pool({ connectionString: url }) })
        : new MysqlDialect({ pool: (await load('mysql2')).createPool(url) });
    const db = new Kysely({ dialect });
    return {
      executor: kyselyExecutor(db, kind),
      transaction: (order, work) =>
        db.transaction().execute(async (trx: any) => {
          await trx.insertInto('orders').values({ id: order }).execute();
          await work(kyselyExecutor(trx, kind));
        }),
      close: () => db.destroy(),
    };
  },
};

const drizzle: Library = {
  name: 'Drizzle',
  kinds: ALL,
  async open(url, kind) {
    const { sql } = await load('drizzle-orm');
    const isPostgres = kind === 'postgres';
    const pool = isPostgres
      ? new (await load('pg')).Pool({ connectionString: url })
      : (await load('mysql2/promise')).createPool(url);
    const db = (await load(isPostgres ? 'drizzle-orm/node-postgres' : 'drizzle-orm/mysql2')).drizzle(pool);
    return {
      executor: drizzleExecutor(db, sql, kind),
      transaction: (order, work) =>
        db.transaction(async (tx: any) => {
          await tx.execute(sql`insert into orders (id) values (${order})`);
          await work(drizzleExecutor(tx, sql, kind));
        }),
      close: () => pool.end(),
    };
  },
};

const prisma: Library = {
  name: 'Prisma',
  kinds: ALL,
  async open(url, kind) {
    const isPostgres = kind === 'postgres';
    const { PrismaClient } = await load(isPostgres ? './prisma-postgres' : './prisma-mysql');
    const adapter = isPostgres
      ? new (await load('@prisma/adapter-pg')).PrismaPg({ connectionString: url })
      : new (await load('@prisma/adapter-mariadb')).PrismaMariaDb(url.replace('mysql://', 'mariadb://'));
    const db = new PrismaClient({ adapter });
    return {
      executor: prismaExecutor(db, kind),
      transaction: (order, work) =>
        db.$transaction(async (tx: any) => {
          await tx.order.create({ data: { id: order } });
          await work(prismaExecutor(tx, kind));
        }),
      close: () => db.$disconnect(),
    };
  },
};

const typeorm: Library = {
  name: 'TypeORM',
  kinds: ALL,
  async open(url, kind) {
    const { DataSource } = await load('typeorm');
    const db = new DataSource({ type: kind, url });
    await db.initialize();
    return {
      executor: typeormExecutor(db.manager, kind),
      transaction: (order, work) =>
        db.transaction(async (manager: any) => {
          await manager.createQueryBuilder().insert().into('orders').values({ id: order }).execute();
          await work(typeormExecutor(manager, kind));
        }),
      close: () => db.destroy(),
    };
  },
};

const sequelize: Library = {
  name: 'Sequelize',
  kinds: ALL,
  async open(url, kind) {
    const { Sequelize } = await load('sequelize');
    const db = new Sequelize(url, { dialect: kind === 'postgres' ? kind : 'mysql', logging: false });
    return {
      executor: sequelizeExecutor(db, null, kind),
      transaction: (order, work) =>
        db.transaction(async (transaction: any) => {
          await db.getQueryInterface().bulkInsert('orders', [{ id: order }], { transaction });
          await work(sequelizeExecutor(db, transaction, kind));
        }),
      close: () => db.close(),
    };
  },
};

export const libraries: readonly Library[] = [
  pg,
  mysql2,
  mysql2Callbacks,
  knex,
  kysely,
  drizzle,
  prisma,
  typeorm,
  sequelize,
];
