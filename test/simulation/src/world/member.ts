import type { Logger, OffsetStore } from '@strandline/core';
import type { PipelineOptions } from '@strandline/pipeline';
import {
  parsePipelineOptions,
  pipelineOf,
  type Pipeline,
  type PipelineConfig,
} from '@strandline/pipeline/parsed';
import type { Machine, Timed } from '../clock.js';
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
  readonly #pipeline: Pipeline | null;

  /**
   * @param place in the crew
   * @param life counts the lives of the whole crew
   * @param config null for nobody, who only lends the shape of a process
   */
  constructor(
    world: World,
    readonly place: number,
    readonly life: number,
    config: PipelineConfig | null,
  ) {
    this.#pipeline = config === null ? null : pipelineOf({ ...config, ...partsOf(world, this) });
  }

  get name(): string {
    return `process ${String(this.life)}`;
  }

  /** Its source has said that it may not own the log any more. */
  get mayNotStart(): boolean {
    return this.stream?.hasToldDoubt === true;
  }

  get pipeline(): Pipeline {
    if (this.#pipeline === null) throw new Error('nobody has a pipeline');
    return this.#pipeline;
  }
}

/** What all processes of a scenario are told; each has its own ends of what they share. */
export function configOf(world: World): PipelineConfig {
  const { options } = world.scenario;
  const nobody = new Member(world, 0, 0, null);
  const common = {
    name: PIPELINE,
    ...partsOf(world, nobody),
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
    parking: {
      poll: 50,
      concurrency: 2,
      schedule: options.schedule ? { initialDelay: 40, maxDelay: 160 } : null,
    },
  };
  // Which of the two it is, is drawn.
  const drawn = options.batch === 1 ? common : { ...common, batch: { max: options.batch } };
  return parsePipelineOptions(drawn as PipelineOptions);
}

/** What is a process's own of its pipeline. */
function partsOf(
  world: World,
  member: Member,
): Pick<PipelineConfig, 'source' | 'offsets' | 'deadLetters' | 'handle'> {
  const handlers = new Handlers(world, member);
  const { batch, hasLetters } = world.scenario.options;
  return {
    source: new SimulatedSource(world, member),
    offsets: new SimulatedOffsets(world, member) as unknown as OffsetStore,
    deadLetters: hasLetters ? simulatedLetters(world, member) : undefined,
    handle: batch === 1 ? handlers.handle : handlers.handleBatch,
  };
}
