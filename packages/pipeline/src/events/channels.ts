import { channel, subscribe, unsubscribe, type Channel } from 'node:diagnostics_channel';
import type { CommitResult } from '@strandline/core';
import type { PauseReason } from '../pause-reason.js';
import type { PipelineState } from '../pipeline-state.js';
import type { StoredReason } from '../report/ledger.js';
import type { Timing, Turn } from './turn.js';

/** Every message says whose it is. */
export interface OfPipeline {
  readonly pipeline: string;
  /** The replay's name, where it is about a replay of the pipeline. */
  readonly replay: string | null;
}

/** Events that the log has brought, now on their strands. */
export interface BatchMessage extends OfPipeline {
  readonly admitted: number;
  /** Delivered again by the log, and known to be settled: they are not handled. */
  readonly duplicates: number;
}

export interface CommitMessage extends OfPipeline {
  readonly result: CommitResult | 'failed';
  /** Seconds. */
  readonly duration: number;
  /** What was to be saved: everything up to here is settled. */
  readonly watermark: string;
  /** What it failed with; null otherwise. */
  readonly error: unknown;
}

export interface StateMessage extends OfPipeline {
  readonly state: PipelineState;
  readonly before: PipelineState;
}

export interface PauseMessage extends OfPipeline {
  readonly reason: PauseReason;
}

export interface ResumeMessage extends PauseMessage {
  /** Seconds. */
  readonly duration: number;
}

/** A key that went to the dead-letter table, or came back from it. */
export interface KeyMessage extends OfPipeline {
  readonly key: string;
}

export interface LettersMessage extends KeyMessage {
  readonly reason: StoredReason;
  readonly count: number;
}

/** A handler that takes longer than `handlerTimeout`. */
export interface StuckMessage extends OfPipeline {
  readonly key: string;
  /** Of the event, or of the first one of its batch. */
  readonly id: string;
  readonly position: string;
  readonly attempt: number;
}

export interface OwnershipMessage extends OfPipeline {
  readonly epoch: number;
  /** Everything up to here is settled. */
  readonly position: string;
}

export interface OwnershipLostMessage extends OwnershipMessage {
  /** Another process has taken it, or this one gives it up because it stops or fails. */
  readonly how: 'taken' | 'given-up';
}

export interface ReconnectMessage extends OfPipeline {
  /** How often the source has connected again in this term of ownership. */
  readonly reconnects: number;
}

/**
 * What is told over `node:diagnostics_channel`, and to whoever asks. The names are stable. A message is made when
 * somebody listens, and at no other time; listeners are called at once and in the middle of the work, so they must be
 * short. Keys, and events with their payloads, are in the messages: what goes out of the process is for the listener
 * to choose.
 */
export interface StrandlineEvents {
  /** A handler is going to be called. `turn.within` runs it inside a context of the listener's. */
  readonly 'strandline:turn:start': Turn;
  /** The same turn has ended: `outcome` says how. What was settled by it is. */
  readonly 'strandline:turn:end': Turn;
  /** How long a turn has taken: of each, up to two that start in one millisecond. */
  readonly 'strandline:turn:timed': Timing;
  readonly 'strandline:batch:admitted': BatchMessage;
  readonly 'strandline:commit:end': CommitMessage;
  readonly 'strandline:state:change': StateMessage;
  readonly 'strandline:pause:begin': PauseMessage;
  readonly 'strandline:pause:end': ResumeMessage;
  /** What the log brings of the key is stored from now on: its head failed for good, or it has too many events here. */
  readonly 'strandline:key:parked': KeyMessage;
  /** All letters of the key are handled: it is live again. */
  readonly 'strandline:key:released': KeyMessage;
  readonly 'strandline:letters:stored': LettersMessage;
  readonly 'strandline:stuck:begin': StuckMessage;
  readonly 'strandline:stuck:end': StuckMessage;
  readonly 'strandline:ownership:gained': OwnershipMessage;
  readonly 'strandline:ownership:lost': OwnershipLostMessage;
  /** Told about a second later. */
  readonly 'strandline:source:reconnected': ReconnectMessage;
}

export type StrandlineEventName = keyof StrandlineEvents;

/** The channels, by name; `publish` of one is worth calling only while `hasSubscribers`. */
export const CHANNELS: Readonly<Record<StrandlineEventName, Channel>> = Object.freeze({
  'strandline:turn:start': channel('strandline:turn:start'),
  'strandline:turn:end': channel('strandline:turn:end'),
  'strandline:turn:timed': channel('strandline:turn:timed'),
  'strandline:batch:admitted': channel('strandline:batch:admitted'),
  'strandline:commit:end': channel('strandline:commit:end'),
  'strandline:state:change': channel('strandline:state:change'),
  'strandline:pause:begin': channel('strandline:pause:begin'),
  'strandline:pause:end': channel('strandline:pause:end'),
  'strandline:key:parked': channel('strandline:key:parked'),
  'strandline:key:released': channel('strandline:key:released'),
  'strandline:letters:stored': channel('strandline:letters:stored'),
  'strandline:stuck:begin': channel('strandline:stuck:begin'),
  'strandline:stuck:end': channel('strandline:stuck:end'),
  'strandline:ownership:gained': channel('strandline:ownership:gained'),
  'strandline:ownership:lost': channel('strandline:ownership:lost'),
  'strandline:source:reconnected': channel('strandline:source:reconnected'),
});

/** Tells whoever listens; the message is made only for somebody. Not for what happens at every event. */
export function tell<Name extends StrandlineEventName>(
  name: Name,
  message: () => StrandlineEvents[Name],
): void {
  const told = CHANNELS[name];
  if (told.hasSubscribers) told.publish(message());
}

/**
 * Listens to what pipelines of this process tell; the answer ends it. The same as `subscribe` of
 * `node:diagnostics_channel`, with the type of the message. What a listener throws ends the process, as Node has it.
 */
export function listen<Name extends StrandlineEventName>(
  name: Name,
  listener: (message: StrandlineEvents[Name]) => void,
): () => void {
  const heard = (message: unknown): void => {
    listener(message as StrandlineEvents[Name]);
  };
  subscribe(name, heard);
  return () => {
    unsubscribe(name, heard);
  };
}
