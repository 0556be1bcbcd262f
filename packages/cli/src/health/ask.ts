import { parseAddress, urlOf } from '@strandline/admin';
import { cliError } from '../errors.js';

/** Milliseconds: a process that takes longer than that for some numbers is not well. */
const PATIENCE = 5_000;

/** Asks a probe; throws `CLI_NO_ANSWER` when there is none. */
export async function askHealth(
  admin: string,
  probe: string,
): Promise<{ readonly well: boolean; readonly text: string }> {
  const url = `${urlOf(reachable(parseAddress(admin)))}/${probe}`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE), redirect: 'error' });
    return { well: response.ok, text: await response.text() };
  } catch (cause) {
    throw cliError(
      'CLI_NO_ANSWER',
      `Nobody answers at ${url}.`,
      'Start the process with --admin at this address, and look at its log.',
      { cause },
    );
  }
}

/** Who listens on every interface is asked on this machine's own. */
function reachable({ host, port }: ReturnType<typeof parseAddress>): ReturnType<typeof parseAddress> {
  if (host === '0.0.0.0') return { host: '127.0.0.1', port };
  return host === '::' ? { host: '::1', port } : { host, port };
}
