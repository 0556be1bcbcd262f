import { checkPast } from './identity.js';
import { scanLayouts } from './layout-scan.js';
import { LiveLog } from './live-log.js';
import type { LiveLogOptions } from './live-log-options.js';
import type { LogPlace } from './log-place.js';
import type { LogPosition } from './position.js';
import type { LogEnd } from './server.js';

export interface LogRequest {
  readonly live: Omit<LiveLogOptions, 'start' | 'layouts'>;
  readonly start: LogPlace;
  /** The position that `start` stands for, to see whether this is still its log; null when it has none. */
  readonly from: LogPosition | null;
  /** What is saved, for errors. */
  readonly watermark: string;
  /** As of an earlier connection. */
  readonly layouts: LogEnd | null;
  readonly signal: AbortSignal;
}

/** A log that the server has begun to send. */
export interface ConnectedLog {
  /** Paused: nothing is wanted yet. */
  readonly log: LiveLog;
  readonly layouts: LogEnd | null;
}

/**
 * Checks that the log from a place on is there and can be read, and has the server send it. Rejects with the error of
 * the check, or with the server's when it refuses.
 */
export async function connectLog(request: LogRequest): Promise<ConnectedLog> {
  const { live, start, from, watermark, signal } = request;
  if (from !== null) await checkPast(live, from, start, watermark);
  const layouts =
    live.config.metadata === 'minimal' ? (request.layouts ?? (await scanLayouts(live, start, signal))) : null;
  const log = new LiveLog({ ...live, start, ...(layouts === null ? {} : { layouts }) });
  const close = (): void => {
    log.close();
  };
  signal.addEventListener('abort', close, { once: true });
  log.pause();
  try {
    signal.throwIfAborted();
    await log.start();
    return { log, layouts };
  } catch (error) {
    log.close();
    throw error;
  } finally {
    signal.removeEventListener('abort', close);
  }
}
