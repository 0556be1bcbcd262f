import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'vite';

const root = path.resolve(import.meta.dirname, '..', '..', '..');
const main = path.resolve(import.meta.dirname, '..', 'dist', 'pipeline-process-main.js');

/** Far longer than a run takes: what is older was left by one that was killed. */
const leftoverAgeMs = 24 * 3_600_000;

/** A file that goes with who made it. */
export interface PipelineProcessBundle extends AsyncDisposable {
  readonly file: string;
}

/**
 * Makes one file of the build of the packages, and of zod: to load the hundreds that they are is more than half of what
 * the start of a process takes, and a run of the tests starts hundreds of processes. Drivers stay what they are.
 */
export async function bundlePipelineProcess(): Promise<PipelineProcessBundle> {
  const bundles = path.join(root, '.cache', 'pipeline-process');
  await mkdir(bundles, { recursive: true });
  await removeLeftovers(bundles);
  const directory = await mkdtemp(path.join(bundles, 'run-'));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    await build({
      configFile: false,
      root,
      logLevel: 'error',
      ssr: { noExternal: ['zod'] },
      build: { ssr: main, outDir: directory, target: 'node20', minify: false },
    });
  } catch (error) {
    await remove();
    throw error;
  }
  return { file: path.join(directory, path.basename(main)), [Symbol.asyncDispose]: remove };
}

async function removeLeftovers(bundles: string): Promise<void> {
  for (const name of await readdir(bundles)) {
    const directory = path.join(bundles, name);
    // Another run may remove it first.
    const { mtimeMs } = await stat(directory).catch(() => ({ mtimeMs: Infinity }));
    if (Date.now() - mtimeMs > leftoverAgeMs) await rm(directory, { recursive: true, force: true });
  }
}
