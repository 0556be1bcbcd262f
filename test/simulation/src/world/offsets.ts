import type {
  CommitResult,
  ControlStore,
  InstanceRegister,
  Offset,
  OffsetSeed,
  OffsetStore,
} from '@strandline/core';
import { FaultyCalls } from './faulty-calls.js';
import type { Member } from './member.js';
import type { World } from './world.js';

/** What a running pipeline asks of its offset store: the rest is for operators, and none looks here. */
type Asked = Pick<OffsetStore, 'name' | 'load' | 'claim' | 'commit' | 'instances' | 'controls' | 'close'>;

/** Nobody looks at the processes from outside. */
const noInstances: InstanceRegister = {
  report: () => Promise.resolve(),
  leave: () => Promise.resolve(),
  list: () => Promise.resolve([]),
};

/** The offset store of one process: the memory store that all share, behind a network. */
export class SimulatedOffsets implements Asked {
  readonly name = 'simulated';
  readonly instances = noInstances;
  readonly controls: ControlStore;
  readonly #calls: FaultyCalls;
  readonly #world: World;
  readonly #member: Member;

  constructor(world: World, member: Member) {
    this.#world = world;
    this.#member = member;
    this.#calls = new FaultyCalls(world, member, {
      purpose: 'offsets',
      fates: ['lost', 'unanswered', 'late'],
      code: 'OFFSETS_UNAVAILABLE',
      isAway: () => world.offsetsAway > 0,
    });
    const calls = this.#calls;
    const { controls } = world.offsets;
    this.controls = {
      load: (pipeline) => calls.call(() => controls.load(pipeline)),
      newer: (pipeline, revision) => calls.call(() => controls.newer(pipeline, revision)),
      change: (pipeline, read, by) => calls.call(() => controls.change(pipeline, read, by)),
    };
  }

  load(pipeline: string): Promise<Offset | null> {
    return this.#calls.call(() => this.#world.offsets.load(pipeline));
  }

  claim(pipeline: string, seed: OffsetSeed): Promise<Offset> {
    return this.#calls.call(() => this.#world.offsets.claim(pipeline, seed));
  }

  commit(pipeline: string, offset: Offset): Promise<CommitResult> {
    const { promises } = this.#world;
    // With a dead-letter table a turn can end after its handler: suspects are noted there.
    if (!this.#world.scenario.options.hasLetters) promises.sent(this.#member, offset);
    return this.#calls.call(
      async () => {
        const result = await this.#world.offsets.commit(pipeline, offset);
        if (result === 'saved' || result === 'restored') promises.saved(offset);
        return result;
      },
      {
        answered: (result) => {
          if (result === 'saved' || result === 'restored') promises.acknowledged(offset);
        },
      },
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
