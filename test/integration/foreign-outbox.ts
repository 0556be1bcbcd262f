import { testDatabase, testMysqlDatabase, type DatabaseKind } from '@strandline/test-kit';

/** A database without anything of ours, and a user's name that goes with it. */
export interface Shop extends AsyncDisposable {
  readonly url: string;
  readonly name: string;
  readonly role: string;
  run(sql: string): Promise<void>;
  /** Who is connected as that user. */
  sessionsOfRole(): Promise<number>;
}

export async function shop(kind: DatabaseKind): Promise<Shop> {
  if (kind === 'postgres') {
    const db = await testDatabase();
    const role = `${db.name}_r`;
    return {
      ...{ url: db.url, name: db.name, role },
      async run(sql) {
        await db.pool.query(sql);
      },
      async sessionsOfRole() {
        const { rows } = await db.pool.query('select from pg_stat_activity where usename = $1', [role]);
        return rows.length;
      },
      async [Symbol.asyncDispose]() {
        const { rows } = await db.pool.query('select from pg_roles where rolname = $1', [role]);
        if (rows.length > 0) await db.pool.query(`drop owned by ${role} cascade; drop role ${role}`);
        await db[Symbol.asyncDispose]();
      },
    };
  }
  const db = await testMysqlDatabase(kind);
  const role = `r_${db.name}`;
  return {
    ...{ url: db.url, name: db.name, role },
    async run(sql) {
      await db.pool.query(sql);
    },
    async sessionsOfRole() {
      const [rows] = await db.pool.query('select id from information_schema.processlist where user = ?', [
        role,
      ]);
      return (rows as unknown[]).length;
    },
    async [Symbol.asyncDispose]() {
      await db.pool.query(`drop user if exists ${role}`);
      await db[Symbol.asyncDispose]();
    },
  };
}

export type Layout = 'Debezium' | 'Rails' | 'camelCase';

/** A table that somebody else has designed, and two inserts for each key, in turn. */
export interface Foreign {
  readonly table: string;
  readonly inserts: readonly string[];
  readonly keys: readonly string[];
  readonly type: string;
}

export function foreignTable(layout: Layout, kind: DatabaseKind): Foreign {
  const isPostgres = kind === 'postgres';
  const document = isPostgres ? 'jsonb' : 'json';
  const text = isPostgres ? 'text' : 'varchar(100)';
  const rows = [1, 2, 3, 4, 5, 6];
  switch (layout) {
    case 'Debezium':
      return {
        table: `create table outboxevent (id ${isPostgres ? 'uuid' : 'char(36)'} primary key, aggregatetype varchar(255) not null,
          aggregateid varchar(255) not null, type varchar(255) not null, payload ${document})`,
        inserts: rows.map(
          (n) =>
            `insert into outboxevent values ('0000000${String(9 - n)}-0000-4000-8000-000000000000', 'order', 'o${String(n % 2)}', 'placed', '{"version": ${String(n)}}')`,
        ),
        ...{ keys: ['o0', 'o1'], type: 'placed' },
      };
    case 'Rails':
      return {
        table: `create table outbox_events (id ${isPostgres ? 'bigserial' : 'bigint auto_increment'} primary key, aggregate_type varchar(255) not null,
          aggregate_id bigint not null, event_type varchar(255) not null, payload ${document} not null,
          created_at timestamp not null default current_timestamp, processed_at timestamp null)`,
        inserts: rows.map(
          (n) =>
            `insert into outbox_events (aggregate_type, aggregate_id, event_type, payload) values ('Order', ${String(n % 2)}, 'OrderPaid', '{"version": ${String(n)}}')`,
        ),
        ...{ keys: ['0', '1'], type: 'OrderPaid' },
      };
    case 'camelCase': {
      const q = (name: string): string => (isPostgres ? `"${name}"` : `\`${name}\``);
      return {
        table: `create table ${q('OutboxMessages')} (${q('messageId')} varchar(40) primary key, ${q('tenantId')} ${text} not null,
          ${q('orderId')} bigint not null, ${q('eventType')} ${text} not null, body text not null, ${q('createdAt')} timestamp default current_timestamp)`,
        inserts: rows.map(
          (n) =>
            `insert into ${q('OutboxMessages')} (${q('messageId')}, ${q('tenantId')}, ${q('orderId')}, ${q('eventType')}, body)
             values ('m${String(9 - n)}', 't${String(n % 2)}', 7, 'shipped', '{"version": ${String(n)}}')`,
        ),
        ...{ keys: ['["t0","7"]', '["t1","7"]'], type: 'shipped' },
      };
    }
  }
}
