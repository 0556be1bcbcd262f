import { EventSourceParserStream } from 'eventsource-parser/stream';

/**
 * Reads server-sent events from a body: calls back with the data of each. `EventSource` can't send the header that carries
 * the token, so the stream is read by `fetch`.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  heard: (data: string) => void,
): Promise<void> {
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  for (;;) {
    const { done, value } = await events.read();
    if (done) return;
    heard(value.data);
  }
}
