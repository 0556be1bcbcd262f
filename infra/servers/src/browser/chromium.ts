import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { reasonOf, ServerError } from '../errors.js';
import { unpackDebianPackages } from '../origins/debian-packages.js';
import { findOnPath } from '../process/run-program.js';
import { exists } from '../project-paths.js';
import { placeProgram, writeLauncher } from './launcher.js';

/** Where to find a Chromium, and what it needs. */
export interface Chromium {
  /** Starts it, and each of its processes. */
  readonly file: string;
  /** A folder of fonts that are the same on every machine; the machine's own fonts where it is missing. */
  readonly fonts?: string;
}

/** The first has the widths of Arial, Times and Courier; the second has the arrows, ticks and symbols that it lacks. */
const FONTS = ['fonts-liberation', 'fonts-dejavu-core'];

/** Names under which distributions and its makers install it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/**
 * Chromium without windows (`chromium-headless-shell`) and fonts, from Debian packages that are unpacked into the project's
 * cache (170 MB to download, 550 MB unpacked), else a browser from the PATH.
 *
 * @throws ServerError `SERVER_UNAVAILABLE` with the reason of each way.
 */
export async function chromium(): Promise<Chromium> {
  try {
    return await unpacked();
  } catch (error) {
    for (const name of NAMES) {
      const file = await findOnPath(name);
      if (file !== undefined) return { file };
    }
    throw new ServerError(
      'SERVER_UNAVAILABLE',
      `No Chromium:\n- Debian packages: ${reasonOf(error)}\n- PATH: there is no ${NAMES.join(', ')}`,
      'Install Chromium, or run on Debian where apt-get can download packages.',
      error,
    );
  }
}

async function unpacked(): Promise<Chromium> {
  const packages = await unpackDebianPackages(['chromium-headless-shell', ...FONTS]);
  const folder = packages.path('usr/lib/chromium');
  const program = packages.program(path.join('usr/lib/chromium', 'chromium-headless-shell'), []);
  // It looks for its data beside what it runs as, which is the loader: so there is a loader beside its data.
  const loader = path.join(folder, 'loader');
  if (!(await exists(loader))) await placeProgram(loader, (draft) => copyFile(program.file, draft));
  const file = path.join(folder, 'launcher');
  await writeLauncher(file, { ...program, file: loader });
  return { file, fonts: packages.path('usr/share/fonts') };
}
