/**
 * What `npm start` and `npm test` do first: see that Node is new enough, install what is missing, build.
 *
 * Plain JavaScript without dependencies, because it runs before there are any. Stdout stays empty: with `--json`
 * it belongs to the demo's one line.
 */
import { spawn } from 'node:child_process';
import { statSync, utimesSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const lockFile = path.join(root, 'package-lock.json');
/** npm writes it at the end of each install, so it tells when, and whether, one was completed. */
const installed = path.join(root, 'node_modules', '.package-lock.json');

export function requireNode(major, minor) {
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return;
  process.stderr.write(
    `Strandline needs Node ${major}.${minor} or newer; this is ${process.versions.node}.\n`,
  );
  process.exit(1);
}

export async function install() {
  const installedAt = modifiedAt(installed);
  if (installedAt !== undefined && installedAt >= modifiedAt(lockFile)) return;
  say('Installing dependencies; this takes a minute or two, once …');
  // `ci` begins by removing node_modules, which is the right thing only when there is nothing in it to keep.
  await run(...npm(installedAt === undefined ? 'ci' : 'install', '--no-audit', '--no-fund'));
  const now = new Date();
  utimesSync(installed, now, now);
}

/** @param {string[]} filters packages to build with what they need; none for all */
export async function build(filters = []) {
  say('Building …');
  const turbo = path.join(root, 'node_modules', 'turbo', 'bin', 'turbo');
  await run(
    process.execPath,
    turbo,
    'run',
    'build',
    ...filters.map((name) => `--filter=${name}`),
    '--output-logs=errors-only',
  );
}

/** The npm that runs this script, when one does; the one on the PATH otherwise. */
function npm(...args) {
  const own = process.env.npm_execpath;
  return own?.endsWith('npm-cli.js') ? [process.execPath, own, ...args] : ['npm', ...args];
}

/** Runs a program in the background of a person's mind: what it prints is shown only when it fails. */
async function run(command, ...args) {
  const child = spawn(command, args, {
    cwd: root,
    // Turborepo's telemetry and update check would write into the home directory.
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: command === 'npm' && process.platform === 'win32',
  });
  const output = [];
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => output.push(chunk));
  const stopListening = endWith(child);
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  stopListening();
  if (code === 0) return;
  process.stderr.write(Buffer.concat(output));
  say(`That failed: ${[command, ...args].join(' ')}`);
  process.exit(code ?? 1);
}

/** Ends the child, and then this process, with the signal that this process gets. Returns what undoes that. */
function endWith(child) {
  const handlers = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => {
    const handler = () => {
      child.once('close', () => process.exit(128 + constants.signals[name]));
      child.kill(name);
    };
    process.on(name, handler);
    return [name, handler];
  });
  return () => handlers.forEach(([name, handler]) => process.off(name, handler));
}

function modifiedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}

export function say(text) {
  process.stderr.write(`${text}\n`);
}
