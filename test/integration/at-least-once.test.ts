import { databaseKinds, testOutbox, waitUntil } from '@strandline/test-kit';
import type { Handler, OutboxEvent } from 'strandline';
import { expect, test } from 'vitest';
import { Pipelines } from './pipelines.js';

type Seen = Pick<OutboxEvent, 'id' | 'key' | 'payloadText' | 'position'>;

test.each(databaseKinds)(
  '%s: an event that is delivered again after a crash has the id, key, payload and position that it had before',
  async (kind) => {
    await using outbox = await testOutbox(kind);
    await using pipelines = new Pipelines(outbox, 'again');
    const seenBy =
      (seen: Seen[], then?: Promise<void>): Handler =>
      ({ id, key, payloadText, position }) => {
        seen.push({ id, key, payloadText, position });
        return then;
      };

    const before: Seen[] = [];
    let release: () => void = () => undefined;
    const never = new Promise<void>((resolve) => {
      release = resolve;
    });
    const first = await pipelines.start(seenBy(before, never), { drainTimeout: 0 });
    await outbox.insert([
      { id: '9007199254740993', key: 'a', payload: '{"n": 1}' },
      { id: '2', key: 'b' },
    ]);
    await waitUntil('both are in flight', () => before.length === 2);
    // Nothing has settled: for the next run this is a crash in the middle of both handlers.
    await first.stop();

    const after: Seen[] = [];
    const second = await pipelines.start(seenBy(after));
    await waitUntil('both came again', () => after.length === 2);
    await second.stop();
    release();
    expect(after).toEqual(before);
    expect(after[0]).toMatchObject({ id: '9007199254740993', key: 'a', payloadText: '{"n": 1}' });
    expect(after[1]).toMatchObject({ id: '2', key: 'b', payloadText: null });
  },
);
