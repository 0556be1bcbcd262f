import type { Choice, OffsetsChoice } from './choice.js';
import { DEAD_LETTER_SCHEMA } from './dead-letter-schema.js';
import type { Flavour } from './facts.js';
import type { KeyChoice } from './guess/key.js';

export interface ConfigRequest {
  readonly flavour: Flavour;
  readonly choice: Choice;
  readonly offsets: OffsetsChoice;
  /** Deliver to a URL, in place of code that is still to be written. */
  readonly webhook: boolean;
  /** What the comment at the key says: what it means, and what it could be instead. */
  readonly key: Pick<KeyChoice, 'why'> & { readonly alternatives: readonly KeyChoice[] };
  /** The payload's text may be JSON, and its column does not say so. */
  readonly textPayload: boolean;
}

/** The text of `strandline.config.ts`. It holds no secret: those are read from the environment. */
export function configText(request: ConfigRequest): string {
  const { choice, flavour } = request;
  const source = flavour === 'postgres' ? 'postgres' : 'mysql';
  const store = 'redis' in request.offsets ? 'redisOffsets' : 'fileOffsets';
  const names = [
    ...(choice.deadLetters ? ['deadLetters'] : []),
    ...['definePipeline', 'env', source, store],
    ...(request.webhook ? ['webhook'] : []),
  ].toSorted();
  return `import { ${names.join(', ')} } from 'strandline';

// From the variable, or from the file that DATABASE_URL_FILE names: no secret is in this file.
const url = env('DATABASE_URL');

export default definePipeline({
  // Names the saved offset${source === 'postgres' ? ', the slot and the publication' : ''}: it must not change once the pipeline has run.
  name: ${text(choice.name)},

  source: ${source}({
    url,
    outbox: {
${outboxLines(request)}
    },
${startLines(request)}
  }),

${offsetsLines(request.offsets)}
${letterLines(request, source)}
${handleLines(request.webhook)}
});
`;
}

function outboxLines({ choice, key, textPayload }: ConfigRequest): string {
  const { table, mapping } = choice;
  const [only = '', ...more] = mapping.key;
  return [
    `table: ${text(`${table.schema}.${table.name}`)},`,
    '// The same at every redelivery: what a handler deduplicates on.',
    `id: ${text(mapping.id)},`,
    '// What is handled in order, one event at a time; events of different keys run in parallel.',
    `// ${capital(comment(key.why))}.`,
    ...key.alternatives.map(({ columns, why }) => `// Or ${keyText(columns)}: ${comment(why)}.`),
    `key: ${more.length === 0 ? text(only) : keyText(mapping.key)},`,
    ...(mapping.type === null ? [] : [`type: ${text(mapping.type)},`]),
    ...(mapping.payload === null ? [] : [`payload: ${text(mapping.payload)},`]),
    ...(textPayload && mapping.payload !== null
      ? ["// payloadFormat: 'json', // when the text in that column is JSON: event.payload is then parsed"]
      : []),
    ...(mapping.headers === null ? [] : [`headers: ${text(mapping.headers)},`]),
  ]
    .map((line) => `      ${line}`)
    .join('\n');
}

const STARTS: Readonly<Record<Choice['start'], string>> = {
  now: 'The first start begins with what commits from then on.',
  snapshot: 'The first start delivers the rows that are in the table, then what commits.',
  earliest: 'The first start begins with the oldest of the binlog that is still there.',
};

function startLines({ flavour, choice: { start } }: ConfigRequest): string {
  return [
    `// ${STARTS[start]}`,
    // A binlog knows nothing of its readers, so nothing else tells a first start from an offset that was lost.
    ...(flavour === 'postgres'
      ? []
      : ['// Take it out once the pipeline has run: a lost offset would look like a first start.']),
    `start: ${text(start)},`,
  ]
    .map((line) => `    ${line}`)
    .join('\n');
}

function offsetsLines(offsets: OffsetsChoice): string {
  if ('redis' in offsets) return `  // How far it is.\n  offsets: redisOffsets({ url: env('REDIS_URL') }),`;
  return `  // How far it is, in a folder that must outlive the process; or redisOffsets({ url: env('REDIS_URL') }).
  offsets: fileOffsets({ directory: ${text(offsets.directory)} }),`;
}

function letterLines({ choice }: ConfigRequest, source: 'postgres' | 'mysql'): string {
  if (!choice.deadLetters)
    return '  // Without deadLetters an event that fails for good halts its key, and holds the log.';
  const schema = source === 'postgres' ? `, schema: ${text(DEAD_LETTER_SCHEMA)}` : '';
  return `  // Where an event that fails for good waits, with all that follows of its key, while other keys go on.
  deadLetters: deadLetters({ ${source}: { url }${schema} }),`;
}

function handleLines(webhook: boolean): string {
  if (webhook)
    return `  // Each event is a request; what is not answered with 2xx is tried again.
  handle: webhook({ url: env('WEBHOOK_URL'), secret: env('WEBHOOK_SECRET') }),`;
  return `  // Your code. What it throws is tried again, and the key waits. event.payload is the row's; ctx.log knows the key.
  handle(event, ctx) {
    ctx.log.info({ id: event.id, type: event.type }, 'handled');
  },`;
}

function keyText(columns: readonly string[]): string {
  return columns.length === 1 ? text(columns[0] ?? '') : `[${columns.map(text).join(', ')}]`;
}

/** A string of TypeScript. */
function text(value: string): string {
  return `'${JSON.stringify(value)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll("'", "\\'")
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')}'`;
}

/** Names of columns are somebody else's text, and must not end the comment. */
function comment(words: string): string {
  return words.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ');
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
