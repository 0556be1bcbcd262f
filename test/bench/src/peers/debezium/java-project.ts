import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Four levels up from `src/peers/debezium` and from `dist/peers/debezium` alike: the bench, then the checkout. */
const BENCH = path.resolve(import.meta.dirname, '..', '..', '..');
const PROJECT = path.resolve(BENCH, '..', '..');
const SOURCES = path.join(BENCH, 'peers', 'debezium');
/** Below the project's cache, which git ignores. */
const BUILT = path.join(PROJECT, '.cache', 'bench', 'debezium');

export const JAR = path.join(BUILT, 'bench-debezium.jar');

/** What the newest Debezium is built for. */
const LOWEST_JAVA = 17;
const LONGEST_OUTPUT = 16 * 1024 * 1024;

/** The version of Java on the PATH, as in `17.0.15`; null when there is none. */
export async function javaVersion(): Promise<string | null> {
  try {
    // Java tells its version on stderr.
    const { stderr } = await execute('java', ['-version']);
    return /version "([^"]+)"/.exec(stderr)?.[1] ?? '';
  } catch {
    return null;
  }
}

/** The version of Debezium that was built, by the name of its engine's jar. */
export async function debeziumVersion(): Promise<string> {
  const names = await readdir(path.join(BUILT, 'lib'));
  const versions = names.map((name) => /^debezium-embedded-(.+)\.jar$/.exec(name)?.[1]);
  return versions.find((version) => version !== undefined) ?? '';
}

/** Builds the program unless that was done since its sources changed; resolves with why it can't be, or null. */
export async function build(progress: (text: string) => void): Promise<string | null> {
  const java = await javaVersion();
  if (java === null) return 'there is no java on the PATH';
  if (Number.parseInt(java, 10) < LOWEST_JAVA)
    return `java is ${java}, and it needs ${String(LOWEST_JAVA)} or newer`;
  if (await isBuilt()) return null;
  if (!(await hasMaven())) return 'there is no mvn on the PATH';
  progress('building Debezium’s engine (the first time Maven downloads it)');
  try {
    await execute('mvn', ['-q', '-B', 'package', `-Dbuild.folder=${BUILT}`], {
      cwd: SOURCES,
      maxBuffer: LONGEST_OUTPUT,
    });
    return null;
  } catch (error) {
    const { stdout = '', message } = error as Error & { stdout?: string };
    const reason = stdout.split('\n').find((line) => line.startsWith('[ERROR]')) ?? message;
    return `mvn could not build it: ${reason.replace('[ERROR]', '').trim()}`;
  }
}

async function hasMaven(): Promise<boolean> {
  return execute('mvn', ['-version']).then(
    () => true,
    () => false,
  );
}

async function isBuilt(): Promise<boolean> {
  const built = await changedAt(JAR);
  const names = await readdir(SOURCES, { recursive: true });
  const sources = names.filter(
    (name) => name.endsWith('.java') || name.endsWith('.properties') || name.endsWith('pom.xml'),
  );
  const changes = await Promise.all(sources.map((name) => changedAt(path.join(SOURCES, name))));
  return changes.every((change) => change <= built);
}

/** Milliseconds since 1970; never for a file that isn't there. */
async function changedAt(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => -Infinity,
  );
}
