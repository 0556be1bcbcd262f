import { faultless, PipelineRuns, testOutbox, waitUntil, type PipelineProcess } from '@strandline/test-kit';
import { definePipeline, fileOffsets, type Pipeline, type Source } from 'strandline';
import { expect, test } from 'vitest';

const NAME = 'controlled';

/** An operator's process: it has the definition, and never works on the pipeline. */
function operatorOf(runs: PipelineRuns, source: Source): Pipeline {
  const { offsets } = runs;
  if (offsets.kind !== 'file') throw new Error('these tests keep offsets in files');
  return definePipeline({
    ...{ name: NAME, source, offsets: fileOffsets({ directory: offsets.directory }) },
    handle: () => undefined,
  });
}

function startsOf(runs: PipelineRuns, key: string): number {
  return runs.history
    .refresh()
    .ofKey(key)
    .filter(({ what }) => what === 'started').length;
}

function countOf(runs: PipelineRuns): number {
  return runs.history.refresh().entries.length;
}

/** Resolves once much has happened, and nothing of it to the key. */
async function goesOnWithout(key: string, runs: PipelineRuns): Promise<void> {
  const [starts, count] = [startsOf(runs, key), countOf(runs)];
  await waitUntil('other keys go on', () => countOf(runs) > count + 100);
  expect(startsOf(runs, key), `handlers of the held key ${key}`).toBe(starts);
}

test('a held key stands, others go on, also when its owner is killed and a standby takes over; released, nothing of it is missing or out of order', async () => {
  await using outbox = await testOutbox('postgres');
  const witness = await outbox.witness();
  await using runs = await PipelineRuns.prepare(outbox, {
    name: NAME,
    behaviour: { delay: 1, jitter: true },
  });
  await using operator = operatorOf(runs, outbox.source());
  const owner = await runs.start();
  await using writers = outbox.writers({ keys: 8, linger: 5 });
  const key = await waitUntil('a key is at work', () => runs.history.refresh().entries.at(-1)?.key ?? null);

  const held = await operator.control.hold(key, { by: 'ann', note: 'the bank has called' });
  expect(held).toMatchObject({ changed: true, here: false, held: { key, by: 'ann' } });
  await owner.untilStatus('the owner has heard of it', (status) => status.held === 1);
  await goesOnWithout(key, runs);

  const standby: PipelineProcess = await runs.start();
  await owner.kill();
  await standby.untilStatus('another one owns it', ({ state }) => state === 'running');
  await standby.untilStatus('it has events of the key', (status) => status.held === 1);
  await goesOnWithout(key, runs);
  expect((await operator.key(key)).held).toMatchObject({ by: 'ann', note: 'the bank has called' });
  await expect(operator.control.retry(key)).rejects.toMatchObject({ code: 'PIPELINE_NOT_OWNER' });

  expect(await operator.control.pause({ by: 'ann' })).toMatchObject({ changed: true });
  await standby.untilStatus('it is paused', ({ paused, running }) => paused === 'operator' && running === 0);
  const [count] = [countOf(runs)];
  await writers.stop();
  expect(countOf(runs)).toBe(count);

  await operator.control.resume();
  expect(await operator.control.release(key)).toMatchObject({ changed: true, was: { by: 'ann' } });
  const committed = await witness.events();
  await runs.history.untilSucceeded(new Set(committed.map(({ id }) => id)).size);
  await standby.untilStatus('all is settled', ({ unsettled }) => unsettled === 0);
  expect(outbox.check(committed, runs.history)).toMatchObject(faultless);
  expect(await standby.stop()).toEqual({ code: 0, signal: null });
});
