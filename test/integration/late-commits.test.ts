import {
  databaseKinds,
  MemoryHistory,
  onceEach,
  rowsOf,
  ScriptedHandler,
  TestLog,
  testOutbox,
  waitUntil,
  type TestOutbox,
} from '@strandline/test-kit';
import { definePipeline, memoryOffsets } from 'strandline';
import { describe, expect, test } from 'vitest';
import { Pipelines } from './pipelines.js';

/** What most outbox readers do: remember the highest id, ask for higher ones. */
class IdCursor {
  readonly seen: string[] = [];
  readonly #outbox: TestOutbox;

  constructor(outbox: TestOutbox) {
    this.#outbox = outbox;
  }

  async poll(): Promise<void> {
    this.seen.push(...(await this.#outbox.idsAbove(this.seen.at(-1) ?? '0')));
  }
}

describe.each(databaseKinds)('%s: a row whose transaction took a small id and committed late', (kind) => {
  test('is delivered, in commit order, and an id cursor misses it', async () => {
    await using outbox = await testOutbox(kind);
    const history = new MemoryHistory();
    await using pipeline = definePipeline({
      name: 'late',
      source: outbox.source(),
      offsets: memoryOffsets(),
      log: new TestLog(),
      handle: new ScriptedHandler(history.record).handle,
    });
    await pipeline.start();
    const cursor = new IdCursor(outbox);

    await using late = await outbox.session();
    await late.begin();
    const [first = ''] = await late.insert(rowsOf('k'));
    const [second = ''] = await outbox.insert(rowsOf('k'));
    expect(Number(first)).toBeLessThan(Number(second));
    await history.untilSucceeded(1);
    await cursor.poll();
    await late.commit();
    const [third = ''] = await outbox.insert(rowsOf('k'));
    await history.untilSucceeded(3);
    await cursor.poll();

    expect(history.ids('succeeded')).toEqual([second, first, third]);
    expect(cursor.seen).toEqual([second, third]);
  });

  test('is delivered also when the pipeline has moved on and was restarted before it committed', async () => {
    await using outbox = await testOutbox(kind);
    await using pipelines = new Pipelines(outbox, 'late');
    const history = new MemoryHistory();
    const handler = (run: number): ScriptedHandler => new ScriptedHandler(history.record, {}, run);

    await using late = await outbox.session();
    let first = '';
    {
      await using before = await pipelines.start(handler(1).handle);
      await late.begin();
      [first = ''] = await late.insert(rowsOf('k'));
      for (let count = 1; count <= 21; count += 1) {
        await outbox.insert(rowsOf('k'));
        await history.untilSucceeded(count);
      }
      await waitUntil('all is saved', () => before.status().unsaved === 0);
      expect(before.status().unsettled).toBe(0);
      const { positions: [last = ''] = [] } = history.entries.at(-1) ?? {};
      await outbox.release?.until(last);
    }
    await using after = await pipelines.start(handler(2).handle);
    await late.commit();
    await history.untilSucceeded(22);

    expect(history.ids('succeeded', 2)).toEqual([first]);
    expect(after.status().settled).toBe(1);
  });

  test('is one of many: under load the order is that of the commits, and nothing is missed but by the id cursor', async () => {
    await using outbox = await testOutbox(kind);
    const witness = await outbox.witness();
    const history = new MemoryHistory();
    await using pipeline = definePipeline({
      name: 'late',
      source: outbox.source(),
      offsets: memoryOffsets(),
      log: new TestLog(),
      handle: new ScriptedHandler(history.record).handle,
    });
    await pipeline.start();
    const cursor = new IdCursor(outbox);

    await using writers = outbox.writers({ writers: 6, linger: 20, keys: 5 });
    await waitUntil('the writers have written', async () => {
      await cursor.poll();
      return writers.committed >= 500;
    });
    await writers.stop();
    await cursor.poll();
    const committed = await witness.events();
    await history.untilSucceeded(committed.length);

    expect(outbox.check(committed, history)).toEqual(onceEach);
    const ids = committed.map(({ id }) => Number(id));
    const idsInCommitOrder = ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? 0));
    expect(idsInCommitOrder, 'whether the ids happen to be in commit order').toBe(false);
    expect(cursor.seen.length).toBeLessThan(committed.length);
  });
});
