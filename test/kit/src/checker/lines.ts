import type { Readable } from 'node:stream';

/** The lines of a text. Split at line feeds alone: what else counts as an end of line elsewhere can be in a value. */
export async function* linesOf(stream: Readable): AsyncGenerator<string> {
  const parts: string[] = [];
  for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const [first = '', ...others] = chunk.split('\n');
    parts.push(first);
    for (const next of others) {
      yield parts.join('');
      parts.length = 0;
      parts.push(next);
    }
  }
  const rest = parts.join('');
  if (rest !== '') yield rest;
}
