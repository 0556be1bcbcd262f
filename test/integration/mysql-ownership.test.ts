import {
  MemoryHistory,
  rowsOf,
  ScriptedHandler,
  TestLog,
  testOutbox,
  waitUntil,
  watchFor,
} from '@strandline/test-kit';
import { definePipeline, memoryOffsets } from 'strandline';
import { expect, test } from 'vitest';

/** On Postgres the session that reads the log is the lock, and a process that lost it may take it again at once. */
test.each(['mysql', 'mariadb'] as const)(
  '%s: when the connection that holds the lock is lost, handlers are told, and it takes over from itself',
  async (kind) => {
    await using outbox = await testOutbox(kind);
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, { hold: ['k1'] });
    const aborted: string[] = [];
    await using pipeline = definePipeline({
      name: 'owner',
      source: outbox.source(),
      offsets: memoryOffsets(),
      log: new TestLog(),
      handle: (event, ctx) => {
        ctx.signal.addEventListener('abort', () => aborted.push(event.key));
        return handler.handle(event, ctx);
      },
    });
    await pipeline.start();
    const [, b = ''] = await outbox.insert(rowsOf('k1', 'k1'));
    await history.until('A runs', () => history.isRunning('k1', 1));

    await outbox.sessionsOf('owner').end('owner');
    await waitUntil('the handler is told', () => aborted.includes('k1'), { deadlineMs: 2_000 });
    // It does not listen. Nothing of its key may start before it has ended, however long that takes.
    await watchFor(1_000, 'only the first handler of k1 has started', () => history.ofKey('k1').length === 1);
    expect(pipeline.status().epoch).toBe(1);
    handler.release('k1');
    await history.until('B is done', () => history.succeeded.has(b));
    expect(history.ofKey('k1').map(({ what }) => what)).toEqual([
      'started',
      'succeeded',
      'started',
      'succeeded',
      'started',
      'succeeded',
    ]);
    expect(pipeline.status().epoch).toBe(2);
  },
);
