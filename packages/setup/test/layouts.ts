import type { TableFacts } from '../src/facts.js';

/** A table in one line for each column: name, type, and `null` where it may be NULL. The first column is the primary key. */
export function table(name: string, columns: string, facts: Partial<TableFacts> = {}): TableFacts {
  const parsed = columns
    .trim()
    .split(/\s*;\s*/)
    .filter((line) => line !== '')
    .map((line) => {
      const [column = '', ...type] = line.split(' ');
      const nullable = type.at(-1) === 'null';
      return { name: column, type: (nullable ? type.slice(0, -1) : type).join(' '), nullable };
    });
  return {
    ...{ schema: 'public', name, columns: parsed, primaryKey: [parsed[0]?.name ?? ''] },
    ...{ rows: null, writes: null, obstacle: null },
    ...facts,
  };
}

/** Layouts in use, by the names and types that they are made with. */
export const LAYOUTS = {
  debezium: table(
    'outboxevent',
    'id uuid; aggregatetype character varying(255); aggregateid character varying(255); type character varying(255); payload jsonb null',
  ),
  rails: table(
    'outbox_events',
    `id bigint; aggregate_type character varying; aggregate_id bigint; event_type character varying; payload jsonb;
     created_at timestamp(6) without time zone; processed_at timestamp(6) without time zone null`,
  ),
  railsMessages: table(
    'outbox_messages',
    'id bigint; event_type character varying; order_id bigint; data jsonb; created_at timestamp; status character varying; locked_by character varying null',
  ),
  camel: table(
    'OutboxMessages',
    '"messageId" uuid; "tenantId" text; "orderId" bigint; "eventType" text; body text; "createdAt" timestamp with time zone'.replaceAll(
      '"',
      '',
    ),
  ),
  massTransit: table(
    'OutboxMessage',
    `SequenceNumber bigint; EnqueueTime timestamp null; SentTime timestamp; Headers text null; Properties text null;
     InboxMessageId uuid null; InboxConsumerId uuid null; OutboxId uuid null; MessageId uuid; ContentType character varying(256);
     MessageType text; Body text; ConversationId uuid null; CorrelationId uuid null; InitiatorId uuid null;
     RequestId uuid null; SourceAddress character varying(256) null; DestinationAddress character varying(256) null;
     ResponseAddress character varying(256) null; FaultAddress character varying(256) null; ExpirationTime timestamp null`,
  ),
  nServiceBus: table(
    'OutboxData',
    `MessageId character varying(200); Dispatched boolean; DispatchedAt timestamp null;
     PersistenceVersion character varying(23); Operations jsonb`,
  ),
  modulith: table(
    'event_publication',
    `id uuid; listener_id text; event_type text; serialized_event text; publication_date timestamp with time zone;
     completion_date timestamp with time zone null; status text null; completion_attempts integer null;
     last_resubmission_date timestamp with time zone null`,
  ),
  axon: table(
    'domain_event_entry',
    `global_index bigint; event_identifier character varying(255); meta_data bytea null; payload bytea;
     payload_revision character varying(255) null; payload_type character varying(255);
     time_stamp character varying(255); aggregate_identifier character varying(255); sequence_number bigint;
     type character varying(255) null`,
  ),
  laravel: table(
    'outbox_messages',
    `id bigint unsigned; uuid char(36); aggregate_type varchar(255); aggregate_id varchar(255); event varchar(255);
     payload json; attempts tinyint unsigned; available_at timestamp null; processed_at timestamp null;
     created_at timestamp null; updated_at timestamp null`,
  ),
  django: table(
    'orders_outboxevent',
    `id bigint; aggregate_type character varying(64); aggregate_id uuid; event_type character varying(64); payload jsonb;
     headers jsonb; published boolean; created_at timestamp with time zone`,
  ),
  djangoPattern: table(
    'django_outbox_pattern_published',
    `id bigint; destination character varying(255); body jsonb; headers jsonb; status integer; retry integer;
     expires_at timestamp with time zone; created_at timestamp with time zone`,
  ),
  ecto: table(
    'outbox_events',
    `id uuid; name character varying(255); stream_id character varying(255); data jsonb; metadata jsonb;
     inserted_at timestamp(0) without time zone; updated_at timestamp(0) without time zone`,
  ),
  wolverine: table(
    'wolverine_outgoing_envelopes',
    `id uuid; owner_id integer; destination character varying; deliver_by timestamp with time zone null; body bytea;
     attempts integer null; message_type character varying`,
  ),
  kafka: table(
    'kafka_outbox',
    'id bigint; topic text; key text; value bytea; headers jsonb; created_at timestamp with time zone',
  ),
  prisma: table(
    'OutboxEvent',
    `id text; aggregateType text; aggregateId text; eventType text; payload jsonb; createdAt timestamp(3) without time zone;
     publishedAt timestamp(3) without time zone null`,
  ),
  upper: table(
    'OUTBOX',
    'ID decimal(20,0); AGGREGATE_TYPE varchar(80); AGGREGATE_ID varchar(80); EVENT_TYPE varchar(80); PAYLOAD longtext; STATUS char(1)',
  ),
  strandline: table(
    'strandline_outbox',
    'id bigint; key text; type text; payload jsonb null; headers jsonb null',
  ),
} as const satisfies Record<string, TableFacts>;

/** Tables that an application has beside its outbox. */
export const BESIDE: readonly TableFacts[] = [
  table('users', 'id bigint; email text; name text; settings jsonb; created_at timestamp'),
  table('orders', 'id bigint; customer_id bigint; status text; data jsonb'),
  table('schema_migrations', 'version character varying'),
  table('inbox_messages', 'id uuid; consumer_id text; payload jsonb; processed_at timestamp null'),
  table('strandline_dead_letters', 'id bigint; event_key text; event_type text; payload text; headers text'),
  table('audit_events', 'id bigint; user_id bigint; event_type text; data jsonb; created_at timestamp'),
];
