import { ServerError } from '@strandline/servers';
import { parseArguments, UsageError, USAGE } from './args.js';
import { runDemo } from './demo.js';
import { DemoFailure } from './failure.js';
import { Interrupted, interruptSignal } from './interrupt.js';
import { createView } from './view.js';

/** 2 is what shells and getopt programs answer to arguments that they don't know. */
const USAGE_EXIT_CODE = 2;

async function main(args: readonly string[]): Promise<number> {
  const parsed = parseArguments(args);
  if (parsed.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  return runDemo(parsed, createView(parsed.json), interruptSignal());
}

function report(error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return USAGE_EXIT_CODE;
  }
  if (error instanceof Interrupted) {
    process.stderr.write(`${error.message}\n`);
    return error.exitCode;
  }
  process.stderr.write(`The demo failed: ${describe(error)}\n`);
  return 1;
}

function describe(error: unknown): string {
  if (error instanceof DemoFailure || error instanceof ServerError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

process.exitCode = await main(process.argv.slice(2)).catch(report);
