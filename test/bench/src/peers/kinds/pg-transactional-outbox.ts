import { dropSlot } from '../../databases/postgres/slots.js';
import type { PeerPlace, PeerRow } from '../peer.js';
import type { PeerKind } from '../process/kind.js';
import { importPackage } from '../process/packages.js';
import { onEachRow, withoutTrigger } from './outbox-trigger.js';

interface Setup {
  readonly outboxOrInbox: 'outbox';
  readonly database: string;
  readonly schema: string;
  readonly table: string;
  readonly listenerRole: string;
  readonly publication: string;
  readonly replicationSlot: string;
}

/** The slice of the package that is used. */
interface PgTransactionalOutbox {
  readonly DatabaseSetup: {
    dropAndCreateTable(setup: Setup): string;
    setupReplicationCore(setup: Setup): string;
  };
  initializeReplicationMessageListener(
    config: {
      readonly outboxOrInbox: 'outbox';
      readonly dbListenerConfig: { readonly connectionString: string };
      readonly settings: Readonly<Record<string, unknown>>;
    },
    handler: { handle(message: { readonly payload: unknown }): Promise<void> },
    logger: object,
    strategies: { readonly concurrencyStrategy: object },
  ): [shutdown: () => Promise<void>];
  createReplicationMutexConcurrencyController(): object;
  createReplicationSegmentMutexConcurrencyController(): object;
  getDisabledLogger(): object;
}

const PACKAGE = 'pg-transactional-outbox';
const SCHEMA = 'transactional_outbox';
const TABLE = 'outbox';

const namesOf = ({ name }: PeerPlace): { slot: string; publication: string } => ({
  slot: `${name}_transactional_outbox`,
  publication: `${name}_transactional_outbox`,
});

/** A row of the outbox as a message of the package's own table. */
const insertMessage = (row: string): string => `
  insert into ${SCHEMA}.${TABLE} (id, aggregate_type, aggregate_id, message_type, segment, payload)
    values (gen_random_uuid(), 'order', ${row}.key::text, 'order.moved', ${row}.key::text,
      jsonb_build_object('id', ${row}.id::text, 'key', ${row}.key::text, 'payload', coalesce(${row}.payload, '')))`;

type Controller =
  'createReplicationMutexConcurrencyController' | 'createReplicationSegmentMutexConcurrencyController';

/** Its table's rows of one reading. With more in front of it, it takes in all at once, and hardly gets to any. */
const MOST = 5_000;

/**
 * Its listener on the replication log: of its two the one that has the order of the commits. By default a mutex keeps all
 * messages in order; there is another controller with a mutex for each segment, which here is the key. The protections
 * against messages that fail for good are off, as in its example of an outbox.
 * https://github.com/Zehelein/pg-transactional-outbox/blob/main/README.md
 */
export const pgTransactionalOutbox = kindWith(
  'pg-transactional-outbox',
  'createReplicationMutexConcurrencyController',
);
export const pgTransactionalOutboxPerKey = kindWith(
  'pg-transactional-outbox, mutex per key',
  'createReplicationSegmentMutexConcurrencyController',
);

function kindWith(name: string, controller: Controller): PeerKind {
  return {
    name,
    goal: 100,
    package: PACKAGE,
    most: MOST,
    install: async (sql, place) => {
      const { DatabaseSetup } = (await importPackage(PACKAGE)) as PgTransactionalOutbox;
      const { rows } = await sql.query<{ database: string; role: string }>(
        'select current_database() as database, current_user as role',
      );
      const { slot, publication } = namesOf(place);
      const setup: Setup = {
        ...{ outboxOrInbox: 'outbox', schema: SCHEMA, table: TABLE, publication, replicationSlot: slot },
        ...{ database: rows[0]?.database ?? '', listenerRole: rows[0]?.role ?? '' },
      };
      await sql.query(DatabaseSetup.dropAndCreateTable(setup));
      await sql.query(DatabaseSetup.setupReplicationCore(setup));
      await sql.query(onEachRow('transactional_outbox_add', insertMessage('new')));
      await sql.query(FILL);
      await createSlot(sql, slot);
    },
    /** Its table is written anew behind a new slot, in transactions of ten rows as the outbox was. */
    load: async (sql, place) => {
      const { slot } = namesOf(place);
      await dropSlot(sql, slot);
      await sql.query(`truncate ${SCHEMA}.${TABLE}`);
      await createSlot(sql, slot);
      await sql.query(`call ${SCHEMA}.fill(${String(MOST)})`);
      await sql.query(`vacuum analyze ${SCHEMA}.${TABLE}`);
    },
    uninstall: async (sql, place) => {
      const { slot, publication } = namesOf(place);
      await dropSlot(sql, slot);
      await sql.query(
        `${withoutTrigger('transactional_outbox_add')}; drop publication if exists ${publication};
       drop schema if exists ${SCHEMA} cascade`,
      );
    },
    consume: async (place, handle) => {
      const outbox = (await importPackage(PACKAGE)) as PgTransactionalOutbox;
      const { slot, publication } = namesOf(place);
      const [stop] = outbox.initializeReplicationMessageListener(
        {
          outboxOrInbox: 'outbox',
          dbListenerConfig: { connectionString: place.url },
          settings: {
            ...{ dbSchema: SCHEMA, dbTable: TABLE, dbPublication: publication, dbReplicationSlot: slot },
            ...{ enableMaxAttemptsProtection: false, enablePoisonousMessageProtection: false },
          },
        },
        { handle: ({ payload }) => handle(payload as PeerRow) },
        outbox.getDisabledLogger(),
        { concurrencyStrategy: outbox[controller]() },
      );
      return { stop };
    },
  };
}

const FILL = `
  create procedure ${SCHEMA}.fill(most int) language plpgsql as $$
  declare
    source outbox;
  begin
    for source in select * from outbox where id <= most order by id loop
      ${insertMessage('source')};
      if source.id % 10 = 0 then commit; end if;
    end loop;
  end $$`;

async function createSlot(sql: Parameters<typeof dropSlot>[0], slot: string): Promise<void> {
  await sql.query("select pg_create_logical_replication_slot($1, 'pgoutput')", [slot]);
}
