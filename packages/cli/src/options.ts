import type { Command } from 'commander';

/** What every command on one pipeline takes. */
export interface PipelineOptions {
  readonly config?: string;
  readonly pipeline?: string;
  readonly json?: true;
  readonly verbose?: true;
}

export function withPipeline(command: Command): Command {
  return command
    .option('-c, --config <file>', 'the config, as of strandline run')
    .option('-p, --pipeline <name>', 'which pipeline, when the config has several')
    .option('--verbose', 'errors come with their stacks');
}

export function withJson(command: Command): Command {
  return command.option('--json', 'answer in JSON');
}

export function withYes(command: Command): Command {
  return command.option('-y, --yes', 'do not ask: for scripts');
}
