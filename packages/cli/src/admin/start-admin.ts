import { AdminServer, parseAddress, type Address } from '@strandline/admin';
import { consolePage } from '@strandline/console';
import type { Logger } from '@strandline/core';
import { prometheusMetrics } from '@strandline/metrics';
import { env, type Pipeline } from '@strandline/pipeline';
import { examine } from '../doctor/examine.js';
import { createLog, parseLevel } from '../log.js';

export interface AdminSettings {
  readonly pipelines: readonly Pipeline[];
  /** `9464`, `127.0.0.1:9464`, `0.0.0.0:9464`, …: a port alone is one of this machine only. */
  readonly address: Address | string;
  /** Default: JSON lines on stderr, as `strandline run` writes them. */
  readonly log?: Logger;
  /**
   * What the console and the API ask for; without one they are served to this machine alone. Default: what
   * `STRANDLINE_ADMIN_TOKEN` holds, or the file that `STRANDLINE_ADMIN_TOKEN_FILE` names.
   */
  readonly token?: string;
  /** Nothing can be changed. */
  readonly readOnly?: boolean;
  /** Milliseconds with work and without progress from which on `/healthz` fails. Default 60,000. */
  readonly stalledAfter?: number;
}

export interface Admin extends AsyncDisposable {
  readonly url: string;
  /** Whether console and API are served there: beyond this machine only with a token. */
  readonly hasConsole: boolean;
  /** Idempotent. */
  stop(): Promise<void>;
}

/**
 * Serves console, API, metrics and health of pipelines of this process. To be called before they start: times are recorded
 * from then on. Throws `ADMIN_ADDRESS`, `ADMIN_LISTEN`.
 */
export async function startAdmin({ address, ...settings }: AdminSettings): Promise<Admin> {
  const { pipelines } = settings;
  const token = settings.token ?? env('STRANDLINE_ADMIN_TOKEN', '');
  const server = new AdminServer({
    ...settings,
    log: settings.log ?? createLog(parseLevel(process.env['LOG_LEVEL'] ?? '')),
    address: typeof address === 'string' ? parseAddress(address) : address,
    token: token === '' ? undefined : token,
    metrics: prometheusMetrics({ pipelines }),
    page: await consolePage(),
    examine: async (pipeline) => (await examine(pipeline)).findings,
  });
  const url = await server.start();
  const stop = (): Promise<void> => server.stop();
  return { url, hasConsole: server.hasApi, stop, [Symbol.asyncDispose]: stop };
}
