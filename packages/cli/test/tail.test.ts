import { restoreEvent, type OutboxEvent } from '@strandline/core';
import type { Pipeline, TailOptions } from '@strandline/pipeline';
import { expect, test } from 'vitest';
import { tail } from '../src/tail/tail.js';
import { keptStreams } from './replay/scripted-replay.js';

const PAYLOAD = '{"card": 4711}';
const stop = new AbortController().signal;

function outboxEvent(n: number): OutboxEvent {
  return restoreEvent({
    ...{ id: String(n), key: 'a\u001b[2J', type: n === 1 ? 'paid' : null, payloadText: PAYLOAD },
    ...{
      payloadFormat: 'json',
      headersText: '{"h": 1}',
      columns: {},
      position: `16/A:${String(n)}`,
      bytes: 1,
    },
    table: 'public.outbox',
    transaction: { id: '77', ordinal: n, commitTime: '2026-01-01T00:00:00.000000Z' },
  });
}

function tailed(): { pipeline: Pipeline; asked: TailOptions[] } {
  const asked: TailOptions[] = [];
  const pipeline = {
    async *tail(options: TailOptions) {
      asked.push(options);
      for (let n = 1; ; n += 1) yield await Promise.resolve(outboxEvent(n));
    },
  };
  return { pipeline: pipeline as unknown as Pipeline, asked };
}

test('a line each, without the payload, up to the limit', async () => {
  const { pipeline, asked } = tailed();
  const { streams, wrote } = keptStreams();
  await tail(pipeline, { limit: 2, key: 'a', from: 'earliest' }, streams, stop);
  expect(asked).toEqual([{ from: 'earliest', key: 'a', signal: stop }]);
  expect(wrote.stdout).toBe(
    '2026-01-01T00:00:00.000000Z  a\\u001b[2J  paid  1  16/A:1\n' +
      '2026-01-01T00:00:00.000000Z  a\\u001b[2J  -  2  16/A:2\n',
  );
});

test('the payload when it is asked for, also in JSON', async () => {
  const { pipeline } = tailed();
  const texts = keptStreams();
  await tail(pipeline, { limit: 1, payload: true }, texts.streams, stop);
  expect(texts.wrote.stdout).toContain(`16/A:1  ${PAYLOAD}\n`);
  const full = keptStreams();
  await tail(pipeline, { limit: 1, payload: true, json: true }, full.streams, stop);
  expect(JSON.parse(full.wrote.stdout)).toMatchObject({ id: '1', payloadText: PAYLOAD });
  const brief = keptStreams();
  await tail(pipeline, { limit: 1, json: true }, brief.streams, stop);
  expect(JSON.parse(brief.wrote.stdout)).toEqual({
    ...{ id: '1', key: 'a\u001b[2J', type: 'paid', position: '16/A:1', table: 'public.outbox' },
    transaction: { id: '77', ordinal: 1, commitTime: '2026-01-01T00:00:00.000000Z' },
  });
});
