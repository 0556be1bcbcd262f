import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { add, noFigures, type Figures } from './schedules.js';
import type { Share } from './worker-main.js';

/** Plays so many seeds from one on, shared among threads. */
export async function playOnThreads(
  first: number,
  runs: number,
  threads: number,
  onProgress: (figures: Figures) => void = () => undefined,
): Promise<Figures> {
  const figures = noFigures();
  const size = Math.ceil(runs / threads);
  const shares: Share[] = [];
  for (let from = 0; from < runs; from += size)
    shares.push({ first: first + from, runs: Math.min(size, runs - from) });
  await Promise.all(
    shares.map(async (share) => {
      const worker = new Worker(new URL('./worker-main.js', import.meta.url), {
        workerData: share,
        // A schedule leaves nothing behind: what is young need not be looked through that often.
        resourceLimits: { maxYoungGenerationSizeMb: 64 },
      });
      worker.on('message', (more: Figures) => {
        add(figures, more);
        onProgress(figures);
      });
      // Rejects with what the thread has thrown.
      await once(worker, 'exit');
    }),
  );
  return figures;
}
