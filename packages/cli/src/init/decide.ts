import {
  OUTBOX_MAPPING,
  PIPELINE_NAME,
  pipelineNameOf,
  setupError,
  type Candidate,
  type Choice,
  type KeyChoice,
  type OffsetsChoice,
  type Survey,
} from '@strandline/setup';
import type { Asker } from './asker.js';
import { decideMapping } from './decide-mapping.js';
import { decideTable } from './decide-table.js';
import { DEFAULT_OFFSETS, type InitOptions } from './options.js';

/** All that the flags, the guesses and the answers have come to. */
export interface Decision {
  readonly choice: Choice;
  readonly offsets: OffsetsChoice;
  readonly webhook: string | null;
  readonly key: { readonly why: string; readonly alternatives: readonly KeyChoice[] };
  readonly textPayload: boolean;
  /** The table as it was read; null for one that is to be made. */
  readonly candidate: Candidate | null;
}

/** What a flag says counts, then what is sure, then who can be asked. */
export async function decide(survey: Survey, options: InitOptions, asker: Asker | null): Promise<Decision> {
  checkChoice(survey, options);
  const { make, candidate } = await decideTable(survey, options, asker);
  const columns =
    candidate === null
      ? {
          mapping: OUTBOX_MAPPING,
          key: { why: 'Events with the same key in order', alternatives: [] },
          textPayload: false,
        }
      : await decideMapping(candidate, options, asker);
  const table = make ?? { schema: candidate.table.schema, name: candidate.table.name };
  const proposed = pipelineNameOf(survey.database, table.name);
  return {
    offsets: await decideOffsets(options, asker),
    webhook: await decideWebhook(options, asker),
    choice: {
      name:
        options.name ??
        (await asker?.text('A name for the pipeline', { initial: proposed, check: checkName })) ??
        proposed,
      table,
      create: make !== null,
      mapping: columns.mapping,
      start: options.start,
      role: options.role,
      deadLetters: options.deadLetters,
    },
    ...{ key: columns.key, textPayload: columns.textPayload, candidate },
  };
}

function checkName(name: string): string | null {
  return PIPELINE_NAME.test(name) ? null : 'It must be 1 to 50 of a-z, 0-9, - and _.';
}

function checkChoice({ flavour }: Survey, { start, role, name }: InitOptions): void {
  if (start === 'earliest' && flavour === 'postgres')
    throw setupError(
      'SETUP_CHOICE',
      '--start earliest needs a log that is there without a reader: Postgres keeps none.',
      'Use --start snapshot for the rows that are there, or --start now.',
    );
  if (!/^[^\u0000-\u001f\u007f'"\\`]{1,32}$/.test(role))
    throw setupError(
      'SETUP_CHOICE',
      `--role ${JSON.stringify(role)} is no name of a user.`,
      'Use 1 to 32 characters without quotes and backslashes.',
    );
  if (name !== undefined && checkName(name) !== null)
    throw setupError(
      'SETUP_CHOICE',
      `--name ${JSON.stringify(name)} is no name of a pipeline.`,
      checkName(name) ?? '',
    );
}

async function decideOffsets(options: InitOptions, asker: Asker | null): Promise<OffsetsChoice> {
  if (options.redis !== undefined) return { redis: options.redis };
  if (options.offsetsDirectory !== undefined || asker === null)
    return { directory: options.offsetsDirectory ?? DEFAULT_OFFSETS };
  const inRedis = await asker.choose('Where does it save how far it is?', [
    { value: false, label: 'in files', hint: `${DEFAULT_OFFSETS}: to try it, or with a disk that stays` },
    { value: true, label: 'in Redis', hint: 'for several machines' },
  ]);
  if (!inRedis) return { directory: DEFAULT_OFFSETS };
  return {
    redis: await asker.text('The URL of Redis', { initial: 'redis://localhost:6379', check: checkRedis }),
  };
}

function checkRedis(text: string): string | null {
  return /^rediss?:\/\//.test(text) ? null : 'It must look like redis://host:6379.';
}

async function decideWebhook(options: InitOptions, asker: Asker | null): Promise<string | null> {
  if (options.webhook !== undefined || asker === null) return options.webhook ?? null;
  const delivers = await asker.choose('What happens with an event?', [
    { value: false, label: 'code of yours', hint: 'the config gets a handler to fill in' },
    { value: true, label: 'it is sent to a URL', hint: 'signed, with retries' },
  ]);
  if (!delivers) return null;
  return asker.text('The URL', {
    check: (text) => (/^https?:\/\//.test(text) ? null : 'It must begin with https:// or http://.'),
  });
}
