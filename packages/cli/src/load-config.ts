import { createRequire } from 'node:module';
import { types } from 'node:util';
import type { Pipeline } from '@strandline/pipeline';
import { createJiti } from 'jiti';
import { cliError } from './errors.js';
import { firstLineOf } from './foreign-text.js';
import { pipelinesOf } from './pipelines-of.js';
import { isStrandlineError } from './print-error.js';

/**
 * Runs a config file, in TypeScript or JavaScript, and returns the pipelines that it exports. Throws
 * `CLI_CONFIG_FAILED`, `CLI_CONFIG_INVALID`, and what `definePipeline`, `postgres` and their like throw for
 * wrong options, as it is.
 */
export async function loadConfig(file: string): Promise<readonly Pipeline[]> {
  return pipelinesOf(defaultOf(await importModule(file)), file);
}

async function importModule(file: string): Promise<unknown> {
  const jiti = createJiti(file, {
    // Its cache lies in a temporary folder that others may read and write, and a config may hold a password.
    fsCache: false,
    // It would make a module look like its default export; a promise there would be awaited unasked.
    interopDefault: false,
    alias: ownCopyFor(file),
  });
  try {
    return await jiti.import(file);
  } catch (cause) {
    if (isStrandlineError(cause)) throw cause;
    throw cliError('CLI_CONFIG_FAILED', `${file} can not be run: ${firstLineOf(cause)}`, remedyFor(cause), {
      cause,
    });
  }
}

/** What a module exports by default; of CommonJS, all that it exports. */
function defaultOf(module: unknown): unknown {
  if (typeof module !== 'object' || module === null) return module;
  const isModule = 'default' in module || '__esModule' in module || types.isModuleNamespaceObject(module);
  return isModule ? (module as { default?: unknown }).default : module;
}

/**
 * A config that has no package `strandline` of its own, because the command was installed globally or comes
 * from the cache of npx, gets the one beside this command.
 */
function ownCopyFor(file: string): Record<string, string> {
  if (resolvedFrom(file) !== undefined) return {};
  const own = resolvedFrom(import.meta.filename);
  return own === undefined ? {} : { strandline: own };
}

function resolvedFrom(file: string): string | undefined {
  try {
    return createRequire(file).resolve('strandline');
  } catch {
    return undefined;
  }
}

function remedyFor(cause: unknown): string {
  const { code } = cause as { code?: unknown };
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND'
    ? 'Install what the config imports, or correct the import.'
    : 'Correct the config; --verbose prints the stack.';
}
