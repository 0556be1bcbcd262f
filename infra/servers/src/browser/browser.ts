import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ServerError } from '../errors.js';
import { createRunDirectory, removeRunDirectory } from '../process/run-directory.js';
import { SupervisedServer } from '../process/supervise.js';
import {
  commandAs,
  makePrivateDirectory,
  unprivilegedIdentity,
  writePrivateFile,
  type Identity,
} from '../process/unprivileged.js';
import { chromium, type Chromium } from './chromium.js';
import { fontConfiguration } from './fonts.js';
import { switches } from './switches.js';

/** A Chromium without windows, which ends with this process, whatever ends that. */
export interface RunningBrowser extends AsyncDisposable {
  /** Where it is driven: the DevTools protocol on a WebSocket of this host. */
  readonly url: string;
  /** Of its first process. */
  readonly pid: number;
  /** For files of who drives it; it goes with the browser. */
  readonly artifacts: string;
}

/** It takes a second, and a test machine may be busy. */
const readyDeadlineMs = 60_000;

/**
 * Starts a Chromium as an ordinary user, with all that it writes in a folder of its own that goes with it.
 *
 * @throws ServerError `SERVER_UNAVAILABLE` where there is none, `SERVER_START_FAILED` with its log.
 */
export async function startBrowser(): Promise<RunningBrowser> {
  const browser = await chromium();
  const directory = await createRunDirectory('browser');
  try {
    return await launch(browser, directory);
  } catch (error) {
    await removeRunDirectory(directory);
    throw error;
  }
}

async function launch(browser: Chromium, directory: string): Promise<RunningBrowser> {
  const home = path.join(directory, 'data');
  const identity = await unprivilegedIdentity(home, { file: browser.file, args: ['--version'] });
  const artifacts = path.join(directory, 'artifacts');
  await mkdir(artifacts);
  const profile = path.join(home, 'profile');
  const program = { file: browser.file, args: switches(browser.file, profile) };
  const env = await environment(browser, directory, home, identity);
  const server = await SupervisedServer.launch({
    directory,
    logFile: path.join(directory, 'server.log'),
    command: { ...commandAs(identity, program, home), env },
    stopSignal: 'SIGTERM',
    stopDeadlineMs: 2_000,
  });
  const close = async (): Promise<void> => {
    // Asked to end, it does so before its children have.
    await server.kill();
    await server.close();
  };
  try {
    await server.start();
    const url = await untilServing(server, path.join(profile, 'DevToolsActivePort'));
    return { url, pid: server.pid ?? 0, artifacts, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function environment(
  { fonts }: Chromium,
  directory: string,
  home: string,
  identity: Identity,
): Promise<Record<string, string>> {
  const own = (name: string): Promise<string> => makePrivateDirectory(identity, path.join(home, name));
  const variables = {
    HOME: home,
    TMPDIR: await own('tmp'),
    XDG_CACHE_HOME: await own('cache'),
    XDG_CONFIG_HOME: await own('config'),
    XDG_DATA_HOME: await own('share'),
    XDG_RUNTIME_DIR: await own('run'),
    // The services of the machine and of its desktop are none of its business.
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    DBUS_SYSTEM_BUS_ADDRESS: 'disabled:',
  };
  if (fonts === undefined) return variables;
  const file = path.join(directory, 'fonts.conf');
  await writePrivateFile(identity, file, fontConfiguration(fonts, variables.XDG_CACHE_HOME));
  return { ...variables, FONTCONFIG_FILE: file };
}

/** It writes port and path of its protocol to a file once it listens. */
async function untilServing(server: SupervisedServer, file: string): Promise<string> {
  const giveUpAt = Date.now() + readyDeadlineMs;
  for (;;) {
    const said = await readFile(file, 'utf8').catch(() => '');
    const [, port, address] = /^(\d+)\n(\/devtools\/browser\/[\da-f-]{36})$/.exec(said) ?? [];
    if (port !== undefined && address !== undefined) return `ws://127.0.0.1:${port}${address}`;
    if (server.pid === undefined || Date.now() > giveUpAt) {
      const state =
        server.pid === undefined ? `it ended: ${server.lastExit}` : 'it runs, but does not listen';
      throw new ServerError(
        'SERVER_START_FAILED',
        `Chromium did not come up: ${state}. The end of its log:\n${await server.logTail()}`,
        'Look at the log above; what it objects to is usually its last lines.',
      );
    }
    await delay(20);
  }
}
