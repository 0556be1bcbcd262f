import { reasonOf, ServerError } from '../errors.js';
import type { ServerProcess, ServerOrigin } from './server-process.js';

/** A way to get a server. It throws when it does not apply here, and its message is the reason. */
export interface Way<T = ServerProcess> {
  readonly origin: Exclude<ServerOrigin, 'environment'>;
  readonly launch: () => Promise<T>;
}

/** The variable that narrows the ways down, as in `STRANDLINE_TEST_SERVERS=local`; several are split by commas. */
export const waysVariable = 'STRANDLINE_TEST_SERVERS';

export function isWayAllowed(origin: ServerOrigin): boolean {
  const allowed = process.env[waysVariable];
  return allowed === undefined || allowed === '' || allowed.split(',').includes(origin);
}

/** The connection string in the environment; undefined when the options ask for a server of their own. */
export function connectionStringIn(variable: string, options: object): string | undefined {
  const given = process.env[variable];
  if (given === undefined || given === '' || !isWayAllowed('environment')) return undefined;
  return Object.values(options).every((value) => value === undefined || value === false) ? given : undefined;
}

/** Tries a server that the environment names. It was asked for, so no other takes its place when it fails. */
export async function tryGiven(
  variable: string,
  url: string,
  ask: (url: string) => Promise<void>,
): Promise<void> {
  const remedy = `Correct ${variable}, or unset it to have a server started.`;
  // The parser's own error quotes the whole string, password included.
  if (!URL.canParse(url)) throw new ServerError('SERVER_UNAVAILABLE', `${variable} is not a URL.`, remedy);
  try {
    await ask(url);
  } catch (error) {
    const problem = `The server that ${variable} names can't be used: ${reasonOf(error)}.`;
    throw new ServerError('SERVER_UNAVAILABLE', problem, remedy, error);
  }
}

/** What is wanted, and what to do when it can't be had. */
export interface Choice<T = ServerProcess> {
  readonly server: string;
  readonly ways: readonly Way<T>[];
  /** The one way that the caller wants; it overrides the environment's choice. */
  readonly only: Way['origin'] | undefined;
  readonly remedy: string;
}

/** The first way that works. When none does, the error has the reason of each. */
export async function firstThatApplies<T>({ server, ways, only, remedy }: Choice<T>): Promise<T> {
  const reasons: string[] = [];
  let lastRefusal: unknown;
  for (const { origin, launch } of ways) {
    if (only === undefined ? !isWayAllowed(origin) : origin !== only) {
      reasons.push(`- ${origin}: left out by ${only === undefined ? waysVariable : 'the option origin'}`);
      continue;
    }
    try {
      return await launch();
    } catch (error) {
      reasons.push(`- ${origin}: ${reasonOf(error)}`);
      lastRefusal = error;
    }
  }
  throw new ServerError(
    'SERVER_UNAVAILABLE',
    `No ${server} to be had:\n${reasons.join('\n')}`,
    remedy,
    lastRefusal,
  );
}
