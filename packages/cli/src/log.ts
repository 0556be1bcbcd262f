import { InvalidArgumentError } from 'commander';
import pino from 'pino';

/** From the most talkative to the quietest. */
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export type LogLevel = (typeof LEVELS)[number];

export const defaultLevel: LogLevel = 'info';

/** What --log-level or LOG_LEVEL says; a variable that is set to nothing counts as not set. */
export function parseLevel(text: string): LogLevel {
  if (text === '') return defaultLevel;
  const level = LEVELS.find((known) => known === text.toLowerCase());
  if (level === undefined) throw new InvalidArgumentError(`Use one of ${LEVELS.join(', ')}.`);
  return level;
}

/** Whether so much is logged that errors come with their stacks. */
export function isVerbose(level: LogLevel): boolean {
  return level === 'debug' || level === 'trace';
}

/** Unless LOG_LEVEL says otherwise. The loggers of pipelines are made inside the config: the environment is what they see. */
export function logFrom(level: LogLevel): void {
  const asked = process.env['LOG_LEVEL'] ?? '';
  if (asked === '') process.env['LOG_LEVEL'] = level;
}

/** JSON lines to stderr, written before the call returns: the last ones are the ones that matter. */
export function createLog(level: LogLevel): pino.Logger {
  return pino({ name: 'strandline', level }, pino.destination({ fd: 2, sync: true }));
}
