import type { PipelineState } from '@strandline/pipeline';
import type { Look } from './look.js';

/** Every label beside `pipeline` has its values from a closed set: keys, ids and positions are none. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric that is read from a look at each pipeline when somebody asks. */
export interface Instrument {
  readonly name: string;
  /** A counter never falls within a process. */
  readonly kind: 'counter' | 'gauge';
  /** As OpenTelemetry has it: UCUM. */
  readonly unit: string;
  readonly help: string;
  /** Beside `pipeline`. */
  readonly labels: readonly string[];
  /** What is not known has no sample. */
  readonly read: (look: Look) => readonly Sample[];
}

const EVENTS = '{event}';

const STATES: readonly PipelineState[] = [
  ...(['idle', 'starting', 'standby', 'running', 'stopping', 'stopped', 'failed'] as const),
];

function one(value: number | null | undefined): readonly Sample[] {
  return value === null || value === undefined ? [] : [{ labels: {}, value }];
}

function flag(value: boolean): readonly Sample[] {
  return one(value ? 1 : 0);
}

/** A sample for each member of a record, the label saying which. */
function each(label: string, values: Readonly<Record<string, number>>): readonly Sample[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

/** Seconds from then to now, by two clocks: a negative span is none. */
function since(time: string | null, wall: number): number | null {
  const at = time === null ? NaN : Date.parse(time);
  return Number.isNaN(at) ? null : Math.max(0, wall - at) / 1_000;
}

/** Nothing of the log is owned here: what would be said of it is not this process's to say. */
function isOwner({ status }: Look): boolean {
  return status.owned;
}

/** The log is not being read to its end. */
function isBehind({ status: { paused, source } }: Look): boolean {
  return paused !== null || source?.state !== 'streaming';
}

function lagSeconds(look: Look): number | null {
  const { status, wall } = look;
  const unsettled = since(status.oldestCommit, wall);
  if (unsettled !== null) return unsettled;
  return status.source?.state === 'streaming' ? 0 : since(status.settledBefore, wall);
}

/** Of each instrument that is about the log and its events, for the owner alone. */
function owned(read: (look: Look) => number | null | undefined): Instrument['read'] {
  return (look) => (isOwner(look) ? one(read(look)) : []);
}

const COUNTERS: readonly Instrument[] = [
  {
    name: 'strandline_events_admitted_total',
    ...{ kind: 'counter', unit: EVENTS, labels: [] },
    help: 'Events that the log has brought and that were not settled before',
    read: ({ totals }) => one(totals.admitted),
  },
  {
    name: 'strandline_events_settled_total',
    ...{ kind: 'counter', unit: EVENTS, labels: [] },
    help: 'Events that were handled, or stored in the dead-letter table',
    read: ({ totals }) => one(totals.settled),
  },
  {
    name: 'strandline_duplicates_skipped_total',
    ...{ kind: 'counter', unit: EVENTS, labels: [] },
    help: 'Events that the log has brought again and that were known to be settled',
    read: ({ totals }) => one(totals.duplicates),
  },
  {
    name: 'strandline_handler_failures_total',
    ...{ kind: 'counter', unit: '{call}', labels: ['outcome'] },
    help: 'Calls of handlers that failed: to be tried again (retry), or for good (exhausted)',
    read: ({ totals }) => each('outcome', { retry: totals.retries, exhausted: totals.exhausted }),
  },
  {
    name: 'strandline_handler_timeouts_total',
    ...{ kind: 'counter', unit: '{call}', labels: [] },
    help: 'Calls of handlers that took longer than handlerTimeout',
    read: ({ totals }) => one(totals.timeouts),
  },
  {
    name: 'strandline_letters_stored_total',
    ...{ kind: 'counter', unit: EVENTS, labels: ['reason'] },
    help: 'Events that were stored in the dead-letter table',
    read: ({ totals }) => each('reason', totals.lettersStored),
  },
  {
    name: 'strandline_letters_handled_total',
    ...{ kind: 'counter', unit: EVENTS, labels: [] },
    help: 'Letters of released keys that were handled',
    read: ({ totals }) => one(totals.lettersHandled),
  },
  {
    name: 'strandline_commits_total',
    ...{ kind: 'counter', unit: '{commit}', labels: ['outcome'] },
    help: 'Commits of the offset',
    read: ({ totals }) => each('outcome', totals.commits),
  },
  {
    name: 'strandline_paused_seconds_total',
    ...{ kind: 'counter', unit: 's', labels: ['reason'] },
    help: 'Time in which the log was not read on',
    read: ({ totals }) => each('reason', totals.paused),
  },
  {
    name: 'strandline_ownership_changes_total',
    ...{ kind: 'counter', unit: '{change}', labels: ['outcome'] },
    help: 'Terms of ownership that began here (gained), and those that another process ended (lost)',
    read: ({ totals }) => each('outcome', { gained: totals.ownershipsGained, lost: totals.ownershipsLost }),
  },
  {
    name: 'strandline_source_reconnects_total',
    ...{ kind: 'counter', unit: '{connection}', labels: [] },
    help: 'How often the source has connected to its server again',
    read: ({ totals }) => one(totals.reconnects),
  },
];

const GAUGES: readonly Instrument[] = [
  {
    name: 'strandline_state',
    ...{ kind: 'gauge', unit: '1', labels: ['state'] },
    help: '1 for what the pipeline is doing in this process, 0 for the rest',
    read: ({ status }) =>
      STATES.map((state) => ({ labels: { state }, value: status.state === state ? 1 : 0 })),
  },
  {
    name: 'strandline_owner',
    ...{ kind: 'gauge', unit: '1', labels: [] },
    help: '1 where this process owns the log, 0 elsewhere',
    read: (look) => flag(isOwner(look)),
  },
  {
    name: 'strandline_epoch',
    ...{ kind: 'gauge', unit: '1', labels: [] },
    help: 'Epoch of the last term of ownership of this process',
    read: ({ status }) => one(status.epoch),
  },
  {
    name: 'strandline_lag_events',
    ...{ kind: 'gauge', unit: EVENTS, labels: [] },
    help: 'Events that are read and not settled; there are more where strandline_lag_is_minimum is 1',
    read: owned(({ status }) => status.unsettled),
  },
  {
    name: 'strandline_lag_is_minimum',
    ...{ kind: 'gauge', unit: '1', labels: [] },
    help: '1 where the log is not read to its end: its reading is paused, its snapshot goes on, or it is out of reach',
    read: (look) => (isOwner(look) ? flag(isBehind(look)) : []),
  },
  {
    name: 'strandline_lag_bytes',
    ...{ kind: 'gauge', unit: 'By', labels: [] },
    help: 'Bytes of log that are not read',
    read: owned(({ status }) => status.source?.lagBytes),
  },
  {
    name: 'strandline_lag_seconds',
    ...{ kind: 'gauge', unit: 's', labels: [] },
    help: 'Time since the commit of what is to be settled next; 0 when nothing is known to wait',
    read: owned(lagSeconds),
  },
  {
    name: 'strandline_oldest_unsettled_age_seconds',
    ...{ kind: 'gauge', unit: 's', labels: [] },
    help: 'Time since the commit of the oldest event that is read and not settled; 0 when there is none',
    read: owned(({ status, wall }) => since(status.oldestCommit, wall) ?? 0),
  },
  {
    name: 'strandline_watermark_age_seconds',
    ...{ kind: 'gauge', unit: 's', labels: [] },
    help: 'Time since the commit before which everything is settled; it grows while the outbox is idle, too',
    read: owned(({ status, wall }) => since(status.settledBefore, wall)),
  },
  {
    name: 'strandline_unsaved_events',
    ...{ kind: 'gauge', unit: EVENTS, labels: [] },
    help: 'Events that are settled and not saved: a crash now would deliver them again',
    read: owned(({ status }) => status.unsaved),
  },
  {
    name: 'strandline_window_events',
    ...{ kind: 'gauge', unit: EVENTS, labels: [] },
    help: 'Events that the window allows to be read and not settled',
    read: ({ status }) => one(status.window.events),
  },
  {
    name: 'strandline_window_bytes',
    ...{ kind: 'gauge', unit: 'By', labels: [] },
    help: 'Bytes of events that the window allows to be read and not settled',
    read: ({ status }) => one(status.window.bytes),
  },
  {
    name: 'strandline_window_used_bytes',
    ...{ kind: 'gauge', unit: 'By', labels: [] },
    help: 'Bytes of events that are read and not settled',
    read: owned(({ status }) => status.bytes),
  },
  {
    name: 'strandline_window_use_ratio',
    ...{ kind: 'gauge', unit: '1', labels: [] },
    help: 'How much of the window is in use, of its events or of its bytes, whichever is more; a little over 1 can be',
    read: owned(({ status: { unsettled, bytes, window } }) =>
      Math.max(unsettled / window.events, bytes / window.bytes),
    ),
  },
  {
    name: 'strandline_paused',
    ...{ kind: 'gauge', unit: '1', labels: [] },
    help: '1 while the log is not read on',
    read: ({ status }) => flag(status.paused !== null),
  },
  {
    name: 'strandline_keys',
    ...{ kind: 'gauge', unit: '{key}', labels: ['state'] },
    help: 'Keys by what they are doing; live ones are all that have events here',
    read: (look) => {
      if (!isOwner(look)) return [];
      const { strands: live, running, stuck, backoff, exhausted, halted, held, parked } = look.status;
      const [full, releasing] = [look.status.fullKeys.length, look.status.releasing.length];
      return each('state', {
        live,
        running,
        stuck,
        backoff,
        exhausted,
        halted,
        held,
        parked,
        full,
        releasing,
      });
    },
  },
  {
    name: 'strandline_stuck_age_seconds',
    ...{ kind: 'gauge', unit: 's', labels: [] },
    help: 'How long the handler has run that takes longest beyond handlerTimeout; 0 when none does',
    // There may be as many as run at once: too many for the arguments of a call.
    read: owned(({ status }) => status.stuckTurns.reduce((most, { age }) => Math.max(most, age), 0) / 1_000),
  },
  {
    name: 'strandline_failing_age_seconds',
    ...{ kind: 'gauge', unit: 's', labels: [] },
    help: 'Time since the first failure of the head that fails longest; 0 when none fails',
    read: owned(({ details }) => details.failing[0]?.age ?? 0),
  },
  {
    name: 'strandline_source_connected',
    ...{ kind: 'gauge', unit: '1', labels: [] },
    help: '1 while the source is connected to its server',
    read: (look) =>
      isOwner(look) ? flag(!['reconnecting', 'closed'].includes(look.status.source?.state ?? 'closed')) : [],
  },
  {
    name: 'strandline_offsets_available',
    ...{ kind: 'gauge', unit: '1', labels: [] },
    help: '1 while commits reach the offset store',
    read: (look) => (isOwner(look) ? flag(look.status.offsetsAvailable) : []),
  },
  {
    name: 'strandline_letters_available',
    ...{ kind: 'gauge', unit: '1', labels: [] },
    help: '1 while the dead-letter table answers',
    read: (look) => (isOwner(look) ? flag(look.status.lettersAvailable) : []),
  },
  {
    name: 'strandline_letters',
    ...{ kind: 'gauge', unit: EVENTS, labels: ['state'] },
    help: 'Events in the dead-letter table: those that wait for their key, and those that were skipped',
    read: ({ server }) => {
      const letters = server?.letters ?? null;
      if (letters === null) return [];
      const { waiting, skipped } = letters;
      return each('state', { waiting, skipped });
    },
  },
  {
    name: 'strandline_parked_keys',
    ...{ kind: 'gauge', unit: '{key}', labels: [] },
    help: 'Keys that have letters waiting in the dead-letter table',
    read: ({ server }) => one(server?.letters?.keys),
  },
  {
    name: 'strandline_log_retained_bytes',
    ...{ kind: 'gauge', unit: 'By', labels: [] },
    help: 'Bytes of log that the server keeps for the slot (Postgres), or has in all binlogs (MySQL, MariaDB)',
    read: ({ server }) => one(server?.retainedBytes),
  },
  {
    name: 'strandline_log_purge_distance_bytes',
    ...{ kind: 'gauge', unit: 'By', labels: [] },
    help: 'Bytes that the server may still write until it gives up the slot (Postgres, where a limit is set), or may remove until it comes to what is not settled (MySQL, MariaDB)',
    read: ({ server }) => one(server?.purgeDistance),
  },
  {
    name: 'strandline_server_look_age_seconds',
    ...{ kind: 'gauge', unit: 's', labels: [] },
    help: 'Time since server and dead-letter table have last answered, of the two the longer; they are asked at most every 15 seconds',
    read: ({ server, now }) => one(server === null ? null : (now - server.at) / 1_000),
  },
];

/** All that is read when somebody asks, in the order in which it is shown. */
export const INSTRUMENTS: readonly Instrument[] = [...COUNTERS, ...GAUGES];
