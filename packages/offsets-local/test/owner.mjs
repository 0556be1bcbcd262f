// A process that owns a pipeline again and again: it claims, commits a few times, and so on, and tells its parent
// what the store told it. Its watermark is a count, so each commit is one more than what was read or saved before.
import { fileOffsets } from '@strandline/offsets-local';

const [directory, rounds, commits] = process.argv.slice(2);
const store = fileOffsets({ directory });
const seed = { identity: { pid: String(process.pid) }, watermark: '0' };

for (let round = 0; round < Number(rounds); round += 1) {
  let offset = await store.claim('shop', seed);
  tell({ claimed: offset.epoch, watermark: Number(offset.watermark) });
  for (let count = 0; count < Number(commits); count += 1) {
    offset = { ...offset, revision: offset.revision + 1, watermark: String(Number(offset.watermark) + 1) };
    const result = await store.commit('shop', offset);
    if (result === 'fenced') break;
    tell({ [result]: offset.epoch, watermark: Number(offset.watermark) });
  }
}
process.disconnect();

/** Synchronous enough: the parent has it before the next step is taken, or the step is not taken. */
function tell(event) {
  process.send(event);
}
