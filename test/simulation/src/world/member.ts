import type { Logger, OffsetStore } from '@strandline/core';
import { definePipeline, type Pipeline, type PipelineOptions } from '@strandline/pipeline';
import type { Machine, Timed } from '../clock.js';
import type { ScenarioOptions } from '../scenario.js';
import { Handlers } from './handlers.js';
import { simulatedLetters } from './letters.js';
import { SimulatedOffsets } from './offsets.js';
import type { Session } from './server.js';
import { SimulatedSource } from './source.js';
import type { Stream } from './stream.js';
import type { World } from './world.js';

const ignore = (): void => undefined;
const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => silent };

/** The name of every simulated pipeline. */
export const PIPELINE = 'simulated';

/** One life of one process of the crew. */
export class Member implements Machine {
  readonly overdue: Timed[] = [];
  isDead = false;
  isPaused = false;
  clockSkew = 0;
  session: Session | null = null;
  stream: Stream | null = null;
  readonly #pipeline: Pipeline;

  /**
   * @param place in the crew
   * @param life counts the lives of the whole crew
   */
  constructor(
    world: World,
    readonly place: number,
    readonly life: number,
  ) {
    this.#pipeline = definePipeline(optionsOf(world, this));
  }

  get name(): string {
    return `process ${String(this.life)}`;
  }

  /** Its source has said that it may not own the log any more. */
  get mayNotStart(): boolean {
    return this.stream?.hasToldDoubt === true;
  }

  get pipeline(): Pipeline {
    return this.#pipeline;
  }
}

function optionsOf(world: World, member: Member): PipelineOptions {
  const { options } = world.scenario;
  const handlers = new Handlers(world, member);
  const common = {
    name: PIPELINE,
    source: new SimulatedSource(world, member),
    offsets: new SimulatedOffsets(world, member) as unknown as OffsetStore,
    concurrency: options.concurrency,
    retry: {
      attempts: options.attempts,
      initialDelay: options.initialDelay,
      maxDelay: 60,
      jitter: options.jitter,
    },
    window: { events: options.window },
    maxPerKey: options.maxPerKey,
    overflow: options.overflow,
    onFailure: options.onFailure,
    handlerTimeout: options.handlerTimeout,
    commitInterval: options.commitInterval,
    drainTimeout: 50,
    log: silent,
    ...(options.hasLetters ? lettersOf(world, member, options) : {}),
  };
  // Whether it takes batches is told by `batch`, which is drawn: the types want it known.
  return (
    options.batch === 1
      ? { ...common, handle: handlers.handle }
      : { ...common, batch: { max: options.batch }, handle: handlers.handleBatch }
  ) as PipelineOptions;
}

function lettersOf(
  world: World,
  member: Member,
  { schedule }: ScenarioOptions,
): Pick<PipelineOptions, 'deadLetters' | 'parking'> {
  return {
    deadLetters: simulatedLetters(world, member),
    parking: { poll: 40, concurrency: 2, schedule: schedule ? { initialDelay: 40, maxDelay: 160 } : null },
  };
}
