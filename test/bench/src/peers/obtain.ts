import type { Stage } from '../benchmarks/stage.js';
import type { Peer } from './peer.js';

export interface Obtained {
  readonly peer: Peer;
  /** With its version. */
  readonly label: string;
}

/** Those of the peers that can take part on this machine. Of the others it is noted why not. */
export async function obtain(
  peers: readonly Peer[],
  stage: Pick<Stage, 'progress'>,
  notes: string[],
): Promise<Obtained[]> {
  const obtained: Obtained[] = [];
  for (const peer of peers) {
    const problem = await peer.obtain((text) => {
      stage.progress(text);
    });
    if (problem === null) obtained.push({ peer, label: `${peer.name} ${await peer.version()}`.trimEnd() });
    else {
      notes.push(problem);
      stage.progress(problem);
    }
  }
  return obtained;
}
