import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { reasonOf, ServerError } from '../errors.js';
import type { Command } from './supervisor-protocol.js';

/**
 * How a server is started so that it doesn't run as uid 0: Postgres and PgBouncer refuse to, and a Redis that
 * anyone on the machine can reach shouldn't.
 *
 * No user is added and no file outside the project's cache changes hands.
 */
export interface Identity {
  readonly description: string;
  /** Programs that change the identity and then become the server (they exec, so its pid is theirs). */
  readonly prefix: readonly string[];
  /** Set where Node itself changes the identity. */
  readonly uid?: number;
  readonly gid?: number;
  /** Whom the server's folder must belong to; undefined when that is who we are. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
}

/** Writes a file that only the identity can read, for what may not be an argument: everyone can read those. */
export async function writePrivateFile({ owner }: Identity, file: string, content: string): Promise<void> {
  await writeFile(file, content, { mode: 0o600 });
  if (owner !== undefined) await chown(file, owner.uid, owner.gid);
}

/** Makes a folder beside the server's own that the identity can write to. */
export async function makePrivateDirectory({ owner }: Identity, directory: string): Promise<string> {
  await mkdir(directory, { mode: 0o700 });
  if (owner !== undefined) await chown(directory, owner.uid, owner.gid);
  return directory;
}

/** The command of a program under an identity. */
export function commandAs(identity: Identity, program: Program, cwd: string): Command {
  const [file = program.file, ...args] = [...identity.prefix, program.file, ...program.args];
  return {
    file,
    args,
    cwd,
    ...(identity.uid === undefined ? {} : { uid: identity.uid }),
    ...(identity.gid === undefined ? {} : { gid: identity.gid }),
  };
}

/**
 * The first identity under which `probe` runs and `directory` can be written, both tried for real. The directory is
 * made if there is none, and is that identity's own.
 */
export async function unprivilegedIdentity(directory: string, probe: Program): Promise<Identity> {
  await mkdir(directory, { recursive: true });
  await chmod(directory, 0o700);
  const refusals: string[] = [];
  for (const identity of await candidates()) {
    try {
      if (identity.owner !== undefined) await chown(directory, identity.owner.uid, identity.owner.gid);
      await tryOut(identity, directory, probe);
      return identity;
    } catch (error) {
      refusals.push(`- as ${identity.description}: ${reasonOf(error).trim()}`);
    }
  }
  throw new ServerError(
    'SERVER_START_FAILED',
    `${probe.file} can't be run as an unprivileged user with the data directory ${directory}:\n${refusals.join('\n')}`,
    'Run as an ordinary user, or move the checkout to a folder that other users can pass through (mode o+x on ' +
      'each folder above it).',
  );
}

async function candidates(): Promise<Identity[]> {
  if (process.getuid?.() !== 0) return ordinaryUser();
  const nobody = await nobodyIds();
  return [
    { description: `uid ${String(nobody.uid)} (nobody)`, prefix: [], ...nobody, owner: nobody },
    // The checkout may lie below a folder such as /root that nobody can't pass through, or have been installed
    // with a umask of 077. One capability gets past that: the lesser first.
    keepingCapability('dac_read_search', nobody),
    keepingCapability('dac_override', nobody),
    // Where no such capability can be had: root in fact, and another uid in its own eyes.
    inUserNamespace(nobody.uid),
  ];
}

/**
 * An ordinary user runs servers as itself. A uid without an entry in the user database (containers are started
 * with such) needs a namespace that gives it a name, since initdb insists on one.
 */
async function ordinaryUser(): Promise<Identity[]> {
  const self: Identity = { description: `the current user, uid ${String(process.getuid?.())}`, prefix: [] };
  try {
    userInfo();
    return [self];
  } catch {
    return [inUserNamespace((await nobodyIds()).uid), self];
  }
}

function keepingCapability(capability: string, { uid, gid }: { uid: number; gid: number }): Identity {
  return {
    description: `uid ${String(uid)} with CAP_${capability.toUpperCase()} (setpriv)`,
    prefix: [
      'setpriv',
      `--reuid=${String(uid)}`,
      `--regid=${String(gid)}`,
      '--clear-groups',
      `--inh-caps=+${capability}`,
      `--ambient-caps=+${capability}`,
      // access(2), with which Postgres looks for its own files, drops the capabilities of every other uid than 0
      // unless told not to.
      '--securebits=+no_setuid_fixup',
    ],
    owner: { uid, gid },
  };
}

function inUserNamespace(uid: number): Identity {
  const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  return {
    description: `uid ${String(uid)} of a user namespace (unshare)`,
    prefix: ['unshare', '--user', `--map-user=${String(uid)}`],
    owner: self,
  };
}

async function tryOut(identity: Identity, directory: string, probe: Program): Promise<void> {
  const script = ': > "$0/.probe" && rm "$0/.probe" && exec "$@"';
  const shell = { file: 'sh', args: ['-c', script, directory, probe.file, ...probe.args] };
  const { file, args, cwd, ...ids } = commandAs(identity, shell, '/');
  const { stderr } = await promisify(execFile)(file, [...args], { cwd, ...ids });
  // Postgres answers --version even when it can't find its own files, and grumbles.
  if (stderr !== '') throw new Error(stderr);
}

/** The ids of `nobody`; 65534 by convention of the kernel where there is no such entry. */
async function nobodyIds(): Promise<{ uid: number; gid: number }> {
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const [, uid, gid] = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(users) ?? ['', '65534', '65534'];
  // macOS writes -2 for 2^32 - 2.
  return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
}
